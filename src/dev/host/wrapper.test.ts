/** What every wrapper does with its options, beyond what the tests of namespaces and of the sandbox ask of it. */
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isolationsHere } from "./testing.ts";
import type { Wrapper } from "./wrapper.ts";
import { wrapperInPerl } from "./wrapper-in-perl.ts";

const wrappers = isolationsHere().flatMap(({ wrapper }) => (wrapper === undefined ? [] : [wrapper]));
const OPTIONS = "--die-with-parent --new-session --unshare-pid --as-pid-1 --unshare-user".split(" ");

let work = "";
beforeEach(() => {
  work = realpathSync(mkdtempSync("/var/tmp/crux-wrapper-"));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

function run({ words }: Wrapper, options: readonly string[], script: string, env: NodeJS.ProcessEnv = {}) {
  const [program, ...args] = words;
  const all = [...args, ...OPTIONS, ...options, "--", "/bin/sh", "-c", script];
  const { status, stdout, stderr } = spawnSync(program, all, {
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin", ...env },
  });
  return { status, out: stdout, said: stderr };
}

describe.each(wrappers)("a wrapper: $kind", (wrapper) => {
  const host = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];

  it("ends with the status of its first process, and says nothing of its own", () => {
    expect(run(wrapper, host, "echo on; exit 7")).toEqual({ status: 7, out: "on\n", said: "" });
    expect(run(wrapper, host, "exec sh -c 'exit 143'").status).toBe(143);
  });

  it("starts nothing, and says why, where it cannot do as the options say", () => {
    const begins = `touch ${join(work, "begun")}; echo begun`;
    for (const options of [
      [...host, "--no-such-option"],
      [...host, "--bind", join(work, "missing"), work],
      [...host, "--bind", work, work, "--chdir", join(work, "missing")],
      [...host, "--ro-bind", work, join(work, "made/in/a/place/that/is/read-only")],
      [...host, "--seccomp", "97"],
    ]) {
      const { status, out, said } = run(wrapper, options, begins);
      expect([status, out, said]).toEqual([
        expect.any(Number),
        "",
        expect.stringMatching(/^(bwrap|sandbox): ./),
      ]);
      expect(status).not.toBe(0);
    }
  });

  it("takes what is mounted from outside, and mounts later over earlier", () => {
    for (const name of ["a", "b", "c"]) mkdirSync(join(work, name));
    writeFileSync(join(work, "a/file"), "of a");
    writeFileSync(join(work, "b/file"), "of b");
    const at = (name: string) => join(work, name);
    // b is where a was when c is mounted from a: from the host's
    const mounts = ["--ro-bind", at("b"), at("a"), "--bind", at("a"), at("c")];
    const { out } = run(wrapper, [...host, ...mounts], `cd ${work}; cat a/file c/file; echo new > c/new`);
    expect(out).toBe("of bof a");
    expect(readFileSync(at("a/new"), "utf8")).toBe("new\n");
  });

  it("mounts nothing outside by way of a link, and shows nothing outside by one", () => {
    mkdirSync(join(work, "shown"));
    symlinkSync("../../../../../../../../etc", join(work, "shown/up"));
    const mounts = ["--tmpfs", work, "--bind", join(work, "shown"), join(work, "shown")];
    const { out } = run(
      wrapper,
      [...host, ...mounts],
      `cd ${work}; ls; echo x > shown/up/crux-canary || echo no`,
    );
    expect(out).toBe("shown\nno\n");
  });

  it("gives a mount its attributes with all that is mounted below it", () => {
    const script = `while read -r _ path _ options _; do
        case $path,$options, in /proc,*|/dev*|*,ro,*) ;; *) echo "$path $options" ;; esac
      done < /proc/mounts; [ -w /dev/null ] && echo over`;
    expect(run(wrapper, host, script).out).toBe("over\n");
  });

  it("makes folders of the size and with the mode that are asked for", () => {
    const made = ["--perms", "1777", "--tmpfs", "/tmp", "--size", "4096", "--perms", "0555", "--tmpfs", work];
    const script = `stat -c %a /tmp ${work}; chmod 755 ${work}; head -c 9000 /dev/zero > ${work}/x || echo full`;
    expect(run(wrapper, [...host, ...made], script).out).toBe("1777\n555\nfull\n");
  });

  it("takes no code from the environment of its program, which gets it as it is", () => {
    const env = { PERL5OPT: "-Mno::such::module", PERL_UNICODE: "SDA", ODD: "ä\u0001\n=", LC_ALL: "xx_XX" };
    const { status, out } = run(
      wrapper,
      host,
      'printf "%s|" "$PERL5OPT" "$PERL_UNICODE" "$ODD" "$LC_ALL"',
      env,
    );
    expect([status, out]).toEqual([0, `${Object.values(env).join("|")}|`]);
  });

  it("takes words of any kind", () => {
    const odd = join(work, "it's a $HOME é \\x");
    mkdirSync(odd);
    writeFileSync(join(odd, "f"), "odd");
    const options = ["--tmpfs", work, "--bind", odd, odd, "--chdir", odd, "--symlink", "f", join(odd, "l")];
    expect(run(wrapper, [...host, ...options], "cat f l; rm l").out).toBe("oddodd");
  });
});

describe("wrapperInPerl()", () => {
  it("is there for the machines whose calls are known", () => {
    expect(["x64", "arm64", "s390x"].map((arch) => wrapperInPerl(arch) !== undefined)).toEqual([
      true,
      true,
      false,
    ]);
  });
});
