/** What rules hold where no namespaces can be made, as far as it differs from what mounts hold (sandbox/sandbox.test.ts). */
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { ExecChild, ExecSpec } from "../../kernel/ports/host.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { until } from "../testing.ts";
import { HostProcesses } from "./exec.ts";
import { landlockInPerl } from "./landlock-in-perl.ts";
import { childrenOf, descendantsOf, findProcess, listPids, readEnviron } from "./procfs.ts";
import { Sandboxes } from "./sandbox/sandbox.ts";
import { bashSpec, confinersHere, newTag, openDescriptors, openedSince, running } from "./testing.ts";

const own = realpathSync(mkdtempSync("/var/tmp/crux-landlock-"));
const dir = join(own, "sb");
const rules = confinersHere().find(({ kind }) => kind === "landlock");
const exec = new HostProcesses({
  ...{ kernelId: "k-landlock", epoch: 1, pipesDir: join(own, "pipes"), ...rules?.by },
  sandboxes: new Sandboxes({ dir, ledgerDir: join(own, "ledger") }),
});
afterAll(async () => {
  await exec.close();
  rmSync(own, { recursive: true, force: true });
});

const node = shellWord(process.execPath);
let work = "";
let over = new AbortController();
beforeEach(() => {
  work = mkdtempSync(join(own, "work-"));
  over = new AbortController();
});
afterEach(() => over.abort());

function profile(fields: Partial<SandboxProfile> = {}): SandboxProfile {
  return { write: [work], protect: [], hide: ["/run"], show: [], network: "off", ...fields };
}

function start(
  script: string,
  sandbox = profile(),
  more: Partial<ExecSpec> = {},
): { child: ExecChild; out(): string } {
  const { spec, out } = bashSpec(script, { cwd: work, sandbox, isMerged: true, ...more });
  return { child: exec.run(spec, new AbortController().signal), out };
}

async function run(script: string, sandbox = profile(), more: Partial<ExecSpec> = {}) {
  const { child, out } = start(script, sandbox, more);
  const { code, error, violations = [] } = await child.exited;
  if (error !== undefined) throw error;
  return { code, out: out(), violations };
}

function made(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(own, name);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
  return folder;
}

describe.runIf(rules !== undefined)("a program confined by rules", () => {
  it("reaches nothing in /tmp but what it needs there, and has a folder of its own that goes with it", async () => {
    const needed = realpathSync(mkdtempSync("/tmp/crux-landlock-"));
    onTestFinished(() => rmSync(needed, { recursive: true, force: true }));
    writeFileSync(join(needed, "x"), "needed");
    const { out } = await run(
      `cat ${needed}/x; echo x > /tmp/crux-no; echo y > ${needed}/y; echo t > "$TMPDIR/t"; echo " $TMPDIR"`,
      profile({ show: [needed] }),
    );
    expect(out.match(/Permission denied/g)?.length).toBe(2);
    expect(out).toMatch(/^needed/);
    expect(out).toContain(` ${dir}/`);
    expect([existsSync("/tmp/crux-no"), readdirSync(dir)]).toEqual([false, []]);
  });

  it("has the folder of its process as its $TMPDIR, one after the other", async () => {
    const hidden = made("state", { journal: "CANARY", "1/a": "a" });
    const sandbox = profile({ tmp: join(hidden, "1"), hide: [hidden] });
    const { out } = await run(`cat "$TMPDIR/a"; echo b > "$TMPDIR/b"; cat ${hidden}/journal`, sandbox);
    expect(out).toMatch(/^acat: .*journal: Permission denied\n$/);
    expect(readdirSync(join(hidden, "1"))).toEqual(["a", "b"]);
  });

  it("makes nothing beside what is hidden in a writable folder, and works everywhere else in it", async () => {
    for (const name of ["src", "secrets"]) mkdirSync(join(work, name));
    for (const name of [".env", "there", "secrets/k"]) writeFileSync(join(work, name), "CANARY");
    const hide = [join(work, ".env"), join(work, "secrets")];
    const script = `cat .env secrets/k; mv .env src/e; ln .env src/l; ln -s ../.env src/s; cat src/s; mv secrets src/t; cat src/t/k
      echo new > beside; echo new > src/new; echo new > there; ls -A`;
    const { out } = await run(script, profile({ hide }));
    expect(out).not.toContain("CANARY");
    expect(out).toContain("beside: Permission denied");
    expect(readdirSync(work).sort()).toEqual([".env", "secrets", "src", "there"]);
    expect([readdirSync(join(work, "src")), readFileSync(join(work, "there"), "utf8")]).toEqual([
      ["new", "s"],
      "new\n",
    ]);
  });

  it("has what it changed of a protected folder put back, with all that it had moved aside", async () => {
    made(`${work.slice(own.length + 1)}/a/.git`, {
      "hooks/pre-push": "as it was",
      "hooks/gone": "x",
      config: "[core]",
    });
    const git = join(work, "a/.git");
    const script = `cd a/.git; echo evil > hooks/pre-push; chmod +x hooks/pre-push; echo evil > hooks/pre-commit
      rm hooks/gone; echo evil >> config; echo index > index`;
    const protect = [join(git, "hooks"), join(git, "config")];
    const { violations } = await run(script, profile({ protect }));
    expect(readdirSync(join(git, "hooks")).sort()).toEqual([
      ...["gone", "pre-commit.crux-quarantine-1", "pre-push", "pre-push.crux-quarantine-1"],
    ]);
    expect([
      readFileSync(join(git, "hooks/pre-push"), "utf8"),
      statSync(join(git, "hooks/pre-push")).mode & 0o111,
    ]).toEqual(["as it was", 0]);
    expect(readFileSync(join(git, "config"), "utf8")).toBe("[core]");
    expect(existsSync(join(git, "index"))).toBe(true);
    expect(violations.map((each) => each.slice(git.length + 1)).sort()).toEqual([
      `config was changed; it is as before; what it had become is now ${git}/config.crux-quarantine-1`,
      "hooks/gone was removed; it is as before",
      `hooks/pre-commit was made; what it had become is now ${git}/hooks/pre-commit.crux-quarantine-1`,
      `hooks/pre-push was changed; it is as before; what it had become is now ${git}/hooks/pre-push.crux-quarantine-1`,
    ]);
    expect((await run("cat a/.git/config", profile({ protect }))).violations).toEqual([]);
  });

  it.each([
    ["another folder", "mv .git g; mkdir .git; echo evil > .git/config"],
    ["a link elsewhere", "mv .git g; ln -s ELSEWHERE .git"],
    ["a file", "mv .git g; echo evil > .git"],
    ["nothing", "mv .git g"],
  ])(
    "has a protected file put back where %s stands in the place of its folder, and no file elsewhere",
    async (_, script) => {
      made(`${work.slice(own.length + 1)}/.git`, { config: "[core]" });
      const elsewhere = made(newTag(), { config: "of the user" });
      await run(
        script.replace("ELSEWHERE", elsewhere),
        profile({ protect: [join(work, ".git/config")], write: [work, elsewhere] }),
      );
      expect(statSync(join(work, ".git")).isDirectory()).toBe(true);
      expect(readFileSync(join(work, ".git/config"), "utf8")).toBe("[core]");
      expect([readdirSync(elsewhere), readFileSync(join(elsewhere, "config"), "utf8")]).toEqual([
        ["config"],
        "of the user",
      ]);
    },
  );

  it("has a protected folder or link that was not there moved aside", async () => {
    symlinkSync("real", join(work, ".husky"));
    const protect = [".crux/settings.json", ".claude/", ".husky/"].map((name) => join(work, name));
    const { violations } = await run(
      "mkdir .crux .claude; echo '{}' > .crux/settings.json; ln -sfn evil .husky",
      profile({ protect }),
    );
    expect(violations.length).toBe(3);
    expect(readdirSync(work).sort()).toEqual(
      [".claude", ".crux", ".husky"].flatMap((name) =>
        name === ".husky" ? [name, `${name}.crux-quarantine-1`] : [`${name}.crux-quarantine-1`],
      ),
    );
  });

  it("is not started where more is protected than can be guarded", async () => {
    mkdirSync(join(work, ".crux"));
    writeFileSync(join(work, ".crux/large"), Buffer.alloc(9_000_000));
    writeFileSync(join(work, ".crux/other"), Buffer.alloc(9_000_000));
    const refused = run("touch ran", profile({ protect: [join(work, ".crux")] }));
    await expect(refused).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect([existsSync(join(work, "ran")), readdirSync(dir)]).toEqual([false, []]);
  });

  it("reaches no socket at all, whatever its profile shows", async () => {
    const path = join(work, "s.sock");
    let heard = 0;
    const server = createServer((socket) => socket.end(String(++heard)));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());
    const says = `require("net").connect({ path: "${path}" }).on("error", (e) => console.log(e.code))`;
    const pair =
      'use Socket; for my $t (SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM) { print socketpair(A, B, AF_UNIX, $t, 0) ? "pair" : "none", "\\n" }';
    for (const network of ["off", { allow: ["a.example"], deny: [] }, "host"] as const) {
      const { out } = await run(
        `${node} -e ${shellWord(says)}; perl -e ${shellWord(pair)}`,
        profile({ show: [path], network }),
      );
      expect(out).toBe("EPERM\npair\npair\nnone\n");
    }
    expect(heard).toBe(0);
    const tcp = 'socket(S, 2, 1, 0) ? print "tcp" : print "none"';
    expect((await run(`perl -e ${shellWord(tcp)}`, profile({ network: "host" }))).out).toBe("tcp");
  });

  it("changes no other process: no signal, limit, priority or processor, and reads none of its memory", async () => {
    const tag = newTag();
    const victim = start(`exec -a ${tag} sleep 60`, profile());
    await until(() => running(tag).length === 1, "it runs");
    const [pid = 0] = running(tag);
    const before = readFileSync(`/proc/${pid}/limits`, "utf8");
    const script = `kill -KILL ${pid} ${process.pid}; prlimit --pid ${pid} --nofile=9; renice -n 19 -p ${pid}; taskset -p 1 ${pid}; ionice -c 3 -p ${pid}
      cat /proc/${pid}/environ /proc/${pid}/maps; ls /proc/${pid}/fd; echo 9 > /proc/${pid}/oom_score_adj`;
    const { out } = await run(script);
    expect(out.match(/not permitted|Permission denied/g)?.length).toBeGreaterThanOrEqual(9);
    expect(readFileSync(`/proc/${pid}/limits`, "utf8")).toBe(before);
    expect(findProcess(pid)).toBeDefined();
    await victim.child.kill();
  });

  it("makes no file that runs as its owner, and no shared memory of the whole user", async () => {
    writeFileSync(join(work, "x"), "");
    const { out } = await run(
      "chmod u+s x; chmod 2755 x; ipcmk -M 64; ipcmk -S 1; ipcmk -Q; chmod 755 x; stat -c %a x",
    );
    expect(out.match(/not permitted/g)?.length).toBe(5);
    expect(out.endsWith("755\n")).toBe(true);
  });

  it("gets no terminal, since those of the user lie in the same place", async () => {
    const { code, out } = await run("script -qec true /dev/null; echo $?; exec 3<> /dev/ptmx");
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/Permission denied(.|\n)*ptmx: Permission denied/),
    ]);
  });

  it("ends with all that it left behind, whatever that did to hide", async () => {
    const tag = newTag();
    const hides = `use POSIX; fork and exit; POSIX::setsid(); fork and exit; $SIG{$_} = "IGNORE" for qw(TERM HUP INT); open(F, ">", "hidden"); exec { "/bin/sleep" } "${tag}", 60`;
    const { code } = await run(
      `env -i perl -e ${shellWord(hides)}; until [ -e hidden ]; do sleep 0.01; done; exit 4`,
    );
    expect([code, running(tag)]).toEqual([4, []]);
  });

  it("is ended while it forks on and on", async () => {
    const tag = newTag();
    const forks = `$0 = "${tag}"; while (1) { fork; select(undef, undef, undef, 0.01); last if ++$n > 7 } sleep 60`;
    const { child } = start(`perl -e ${shellWord(forks)}`);
    await until(() => running(tag).length > 20, "they are many");
    await child.kill();
    expect(running(tag)).toEqual([]);
  });

  it("takes signals, stops and goes on", async () => {
    const { child, out } = start('trap "echo heard; exit 3" TERM; echo ready; while :; do sleep 0.01; done');
    await until(() => out() === "ready\n", "it is ready");
    child.signal("SIGSTOP");
    const inside = () => descendantsOf(child.osPid ?? 0);
    await until(
      () => inside().length > 0 && inside().every((pid) => findProcess(pid)?.isStopped !== false),
      "it stands",
    );
    child.signal("SIGCONT");
    child.signal("SIGTERM");
    // the sleep has got it too, of which bash says so
    expect([(await child.exited).code, out()]).toEqual([3, expect.stringMatching(/^ready\n.*heard\n$/s)]);
  });

  it("is confined ahead of its command, and not by what was replaced meanwhile", async () => {
    const process = { id: work, until: over.signal };
    writeFileSync(join(work, ".env"), "CANARY");
    const sandbox = profile({ hide: [join(work, ".env")], write: [] });
    await run("true", sandbox, { process });
    await until(() => exec.spares === 1, "one waits");
    const fitting = start("echo on", sandbox, { process });
    expect(exec.spares).toBe(0);
    expect([(await fitting.child.exited).code, fitting.out()]).toEqual([0, "on\n"]);
    await until(() => exec.spares === 1, "one waits");
    rmSync(join(work, ".env"));
    writeFileSync(join(work, ".env"), "CANARY of another file");
    expect((await run("cat .env", sandbox, { process })).out).toMatch(/Permission denied/);
  });

  it("dies with a daemon that is killed", async () => {
    const [mark, tag] = [newTag(), newTag()];
    const at = (name: string) => JSON.stringify(join(import.meta.dirname, name));
    const script = `const { HostProcesses } = await import(${at("exec.ts")});
      const { confinersHere } = await import(${at("testing.ts")});
      const { by } = confinersHere().find(({ kind }) => kind === "landlock");
      const exec = new HostProcesses({ kernelId: "${mark}", epoch: 1, ...by });
      const spec = ${JSON.stringify({ argv: ["bash", "-c", `(exec -a ${tag} setsid sleep 60)& exec -a ${tag} sleep 60`], cwd: work, sandbox: profile(), owner: "t" })};
      exec.run({ ...spec, env: { PATH: "/usr/bin:/bin", MARK: "${mark}" }, onOutput() {} }, new AbortController().signal);
      setInterval(() => {}, 1000);`;
    const daemon = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" });
    await until(
      () => childrenOf(daemon.pid ?? 0).flatMap(childrenOf).length > 0 && running(tag).length > 0,
      "it runs",
    );
    daemon.kill("SIGKILL");
    await until(() => listPids().every((pid) => !readEnviron(pid).includes(mark)), "nothing of it is left");
  });

  it("leaves no descriptor and no folder", async () => {
    await run("true");
    const before = openDescriptors();
    for (let i = 0; i < 5; i++)
      await run("true", profile({ protect: [join(work, ".git/config"), join(work, ".crux/")] }));
    await until(() => openedSince(before).length === 0, "all are closed");
    expect([readdirSync(dir), readdirSync(work)]).toEqual([[], []]);
  });
});

describe("landlockInPerl()", () => {
  it("is there for the machines whose calls are known", () => {
    expect(["x64", "arm64", "s390x"].map((arch) => landlockInPerl(arch) !== undefined)).toEqual([
      true,
      true,
      false,
    ]);
  });
});
