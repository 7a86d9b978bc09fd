/** Whatever changes on the host or in what is asked for: a sandbox is set up as one that has kept no plan would set it up. */
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type Confine, closeFilter, Sandboxes } from "./sandbox.ts";
import { MACHINES } from "./seccomp.ts";

let base = "";
let states = "";
let kept: Sandboxes;
let made = 0;
beforeEach(() => {
  // what a program needs of the host's /tmp is a part of the plan
  base = realpathSync(mkdtempSync("/tmp/crux-plans-"));
  states = realpathSync(mkdtempSync("/var/tmp/crux-plans-"));
  for (const name of ["work", "bin", "tools/x", "more"]) mkdirSync(join(base, name), { recursive: true });
  for (const name of ["tools/x/run", "bin/cat"]) writeFileSync(join(base, name), "");
  kept = sandboxes();
});
afterEach(() => {
  kept.close();
  for (const dir of [base, states]) rmSync(dir, { recursive: true, force: true });
});

function sandboxes(): Sandboxes {
  const dir = join(states, `${++made}`);
  return new Sandboxes({ dir, ledgerDir: `${dir}-ledger`, kind: "bubblewrap" });
}

function wish(more: Partial<Confine> = {}): Confine {
  const work = join(base, "work");
  const profile = {
    write: [work, join(base, "more")],
    protect: [`${work}/.git/`, `${work}/.mcp.json`],
    hide: [join(work, "secret")],
    show: [],
    network: "off",
  } as const;
  const env = { PATH: `${base}/bin:/usr/bin:/bin` };
  return { id: "one", profile, argv: [join(base, "tools/x/run")], cwd: work, env, ...more };
}

function optionsOf(by: Sandboxes, wanted: Confine): readonly string[] {
  const confinement = by.confine(wanted);
  closeFilter(confinement);
  confinement.end();
  return confinement.options;
}

function freshOptionsOf(wanted: Confine): readonly string[] {
  const fresh = sandboxes();
  try {
    return optionsOf(fresh, wanted);
  } finally {
    fresh.close();
  }
}

const at = (name: string): string => join(base, name);
const changes: readonly (readonly [string, () => unknown])[] = [
  ["a protected file", () => writeFileSync(at("work/.mcp.json"), "")],
  ["a protected folder", () => mkdirSync(at("work/.git"))],
  ["a link in the place of a protected folder", () => symlinkSync("/etc", at("work/.git"))],
  ["a hidden folder", () => mkdirSync(at("work/secret"))],
  ["a hidden file", () => writeFileSync(at("work/secret"), "")],
  [
    "a folder of PATH that is a link now",
    () => {
      renameSync(at("bin"), at("b"));
      symlinkSync("b", at("bin"));
    },
  ],
  ["a folder of PATH that is gone", () => rmSync(at("bin"), { recursive: true })],
  ["a socket in a folder that is shown", () => once(listening(at("bin/s")), "listening")],
  ["a project around the program", () => writeFileSync(at("tools/package.json"), "{}")],
  ["a repository around all", () => mkdirSync(at(".git"))],
  ["a writable folder that is gone", () => rmSync(at("more"), { recursive: true })],
];

function listening(path: string) {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  return server;
}

describe.skipIf(process.platform !== "linux" || MACHINES[process.arch] === undefined)("a kept plan", () => {
  it.each(changes)("is made again for %s", async (_name, change) => {
    const before = optionsOf(kept, wish());
    expect(optionsOf(kept, wish())).toEqual(before);
    await change();
    const after = optionsOf(kept, wish());
    expect(after).toEqual(freshOptionsOf(wish()));
    expect(after).not.toEqual(before);
  });

  it("is another for another profile, program, script, folder or PATH", () => {
    const { profile } = wish();
    const script = at("tools/x/run");
    const wishes = [
      wish(),
      wish({ profile: { ...profile, write: [] } }),
      wish({ profile: { ...profile, protect: [] } }),
      wish({ argv: [at("bin/cat")] }),
      wish({ argv: ["/bin/sh", script] }),
      wish({ argv: ["/bin/sh", "-c", script] }),
      wish({ cwd: at("more") }),
      wish({ env: { PATH: "/usr/bin" } }),
    ];
    const fresh = wishes.map(freshOptionsOf);
    for (const _time of [1, 2]) expect(wishes.map((each) => optionsOf(kept, each))).toEqual(fresh);
    expect(new Set(fresh.map((each) => each.join(" "))).size).toBeGreaterThan(4);
  });

  it("holds while a placeholder of its own lies where a protected folder is missing", () => {
    const first = kept.confine(wish());
    const second = kept.confine(wish({ id: "two" }));
    expect(second.options).toEqual(first.options);
    expect(first.holds(wish({ id: "three" }))).toBe(true);
    for (const each of [first, second]) {
      closeFilter(each);
      each.end();
    }
    expect(optionsOf(kept, wish())).toEqual(first.options);
  });

  it.each(changes)("is used ahead of a command, and does not hold for it after %s", async (_name, change) => {
    const before = optionsOf(kept, wish());
    await change();
    const ahead = kept.confine(wish({ isAhead: true }));
    expect(ahead.options).toEqual(before);
    expect(ahead.holds(wish())).toBe(false);
    closeFilter(ahead);
    ahead.end();
    expect(optionsOf(kept, wish({ isAhead: true }))).toEqual(freshOptionsOf(wish()));
  });
});
