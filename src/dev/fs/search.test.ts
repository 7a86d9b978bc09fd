import { chmodSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import type { FilesAnswer, FsRequest, GrepAnswer } from "../../abi/ops/fs.ts";
import type { HostExec } from "../../kernel/ports/host.ts";
import { ask, askJson, callerIn, tempFolder } from "../testing.ts";
import { Ripgrep } from "./ripgrep.ts";
import { depthOf, globFilter } from "./search.ts";
import { fsForTests } from "./testing.ts";

const { device, exec } = fsForTests();
const never = new AbortController().signal;

type Grep = Omit<Extract<FsRequest, { op: "grep" }>, "op" | "output"> & {
  output?: "content" | "files" | "count";
};

function grep(root: string, fields: Grep, subpath = "/."): Promise<GrepAnswer> {
  return askJson(device, subpath, { op: "grep", output: "content", ...fields }, callerIn(root));
}

function folder(): string {
  const root = tempFolder();
  mkdirSync(join(root, "src"));
  mkdirSync(join(root, ".git"));
  writeFileSync(join(root, ".git/config"), "needle\n");
  writeFileSync(join(root, ".hidden"), "needle\n");
  writeFileSync(join(root, "src/a:1.ts"), "one\nNeedle (x)\nthree\n");
  writeFileSync(join(root, "b.md"), "needle\nneedle\n");
  writeFileSync(join(root, ".gitignore"), "*.log\n");
  writeFileSync(join(root, "c.log"), "needle\n");
  return root;
}

const lines = (answer: GrepAnswer) => answer.stdout.split("\n").filter(Boolean).sort();
const names = (answer: GrepAnswer) => answer.stdout.split("\0").filter(Boolean).sort();

describe("/dev/fs grep", () => {
  it("gives ripgrep's lines, paths relative and ended by NUL; hidden files yes, .git and ignored no", async () => {
    const answer = await grep(folder(), { pattern: "needle", context: 0 });
    expect(answer).toMatchObject({ exit_code: 0, partial: false, stderr: "" });
    expect(lines(answer)).toEqual([".hidden\x001:needle", "b.md\x001:needle", "b.md\x002:needle"]);
  });

  it("has context lines, and `--` between groups of files", async () => {
    const { stdout } = await grep(folder(), { pattern: "Needle", include: "*.ts" });
    expect(stdout).toBe("src/a:1.ts\x001-one\nsrc/a:1.ts\x002:Needle (x)\nsrc/a:1.ts\x003-three\n");
  });

  it("shows a long line by its match", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "min.js"), `${"a".repeat(9_000)};needle;${"b".repeat(9_000)}\n`);
    const { stdout } = await grep(root, { pattern: "needle" });
    expect(stdout).toMatch(/^min\.js.1:…a+;needle;b+…\n$/);
    expect(stdout.length).toBeLessThan(2_020);
  });

  it("takes the options asked for", async () => {
    const root = folder();
    expect(
      names(await grep(root, { pattern: "needle", output: "files", case_insensitive: true })).length,
    ).toBe(3);
    expect(lines(await grep(root, { pattern: "needle", output: "count", type: "md" }))).toEqual([
      "b.md\x002",
    ]);
    expect((await grep(root, { pattern: "(x", literal: true, output: "count" })).exit_code).toBe(0);
    expect((await grep(root, { pattern: "one\nNeedle", multiline: true, output: "count" })).exit_code).toBe(
      0,
    );
    expect(names(await grep(root, { pattern: "needle", output: "files", no_ignore: true }))).toContain(
      "c.log",
    );
  });

  it("exit 1 is nothing found, 2 a bad pattern with ripgrep's own words", async () => {
    const root = folder();
    expect(await grep(root, { pattern: "absent" })).toMatchObject({ exit_code: 1, stdout: "" });
    const bad = await grep(root, { pattern: "(" });
    expect(bad).toMatchObject({ exit_code: 2, stdout: "" });
    expect(bad.stderr).toContain("unclosed group");
  });

  it("no pattern, glob or file name becomes an option", async () => {
    const root = tempFolder();
    const marker = join(root, "ran");
    const script = join(root, "run.sh");
    writeFileSync(script, `#!/bin/sh\ntouch ${marker}\n`);
    chmodSync(script, 0o755);
    writeFileSync(join(root, "--files"), `--pre=${script}\n`);
    const options = { pattern: `--pre=${script}`, include: `--pre=${script}`, output: "files" } as const;
    expect((await grep(root, options)).exit_code).toBe(1);
    expect(names(await grep(root, { pattern: `--pre=`, output: "files" }))).toEqual(["--files"]);
    expect((await grep(root, { pattern: "--pre=", output: "count" }, "/./--files")).stdout).toBe(
      `${root}/--files\x001\n`,
    );
    expect(() => chmodSync(marker, 0o600)).toThrow("ENOENT");
  });

  it("a missing path is NOT_FOUND", async () => {
    await expect(grep(tempFolder(), { pattern: "x" }, "/./none")).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("/dev/fs files", () => {
  const files = (root: string, fields: object = {}) =>
    askJson<FilesAnswer>(device, "/.", { op: "files", ...fields }, callerIn(root));

  it("gives the newest first, then by name, and how many there are, also from an offset on", async () => {
    const root = tempFolder();
    for (const [name, seconds] of [
      ["old.ts", 1_000],
      ["b.ts", 2_000],
      ["a.ts", 2_000],
      ["new.md", 3_000],
    ] as const) {
      writeFileSync(join(root, name), "12");
      utimesSync(join(root, name), seconds, seconds);
    }
    const all = await files(root);
    expect(all.files.map(({ path }) => path)).toEqual(["new.md", "a.ts", "b.ts", "old.ts"]);
    expect(all.files[0]).toEqual({ path: "new.md", mtime_ms: 3_000_000, size: 2 });
    const some = async (fields: object) => {
      const { files: found, total, partial } = await files(root, { glob: "*.ts", ...fields });
      return [found.map(({ path }) => path).join(" "), total, partial];
    };
    expect(await some({ limit: 2 })).toEqual(["a.ts b.ts", 3, false]);
    expect(await some({ limit: 2, offset: 2 })).toEqual(["old.ts", 3, false]);
    expect(await some({ offset: 3 })).toEqual(["", 3, false]);
    expect(await some({ glob: "*.none" })).toEqual(["", 0, false]);
  });

  it("a glob never brings back what is ignored", async () => {
    const root = tempFolder();
    mkdirSync(join(root, "node_modules/x"), { recursive: true });
    mkdirSync(join(root, ".git"));
    for (const name of ["a.ts", "node_modules/x/b.ts", ".git/HEAD"]) writeFileSync(join(root, name), "1");
    writeFileSync(join(root, ".gitignore"), "node_modules\n");
    const paths = (await files(root, { glob: "**/*" })).files.map(({ path }) => path).sort();
    expect(paths).toEqual([".gitignore", "a.ts"]);
  });

  it("a glob is relative to the directory; a bad one is INVALID", async () => {
    const root = folder();
    expect((await files(root, { glob: "src/**" })).files.map(({ path }) => path)).toEqual(["src/a:1.ts"]);
    await expect(ask(device, "/.", { op: "files", glob: "[" }, callerIn(root))).rejects.toMatchObject({
      code: "INVALID",
    });
  });
});

describe("Ripgrep", () => {
  /** A program that stands in for ripgrep, in a folder that becomes the PATH. */
  function fake(script: string): { env: Record<string, string>; bin: string; log: string } {
    const bin = tempFolder();
    const log = join(bin, "log");
    writeFileSync(join(bin, "rg"), `#!/bin/bash\nprintf '%s\\n' "$*" >> ${log}\n${script}\n`);
    chmodSync(join(bin, "rg"), 0o755);
    return { bin, log, env: { PATH: `${bin}:/usr/bin:/bin`, CRUX_BUILTIN_RIPGREP: "false" } };
  }
  const search = { real: "/", args: ["-e", "x"], cwd: "/", owner: "test" };

  it("runs where nothing can be written or reached, and no closed place is seen but the one it was sent to", async () => {
    const seen: unknown[] = [];
    const confining: HostExec = {
      run: (spec, signal) => {
        seen.push(spec.sandbox);
        return exec.run({ ...spec, sandbox: null }, signal);
      },
      ...{ find: (what) => exec.find(what), close: () => exec.close(), live: 0, ownership: exec.ownership },
      sandbox: { available: true, kind: "bubblewrap" },
    };
    const closed = () => ["/home/u/.ssh", "/state"];
    const rg = new Ripgrep(confining, fake("exit 1").env, { closed });
    const roots = ["/home/u/project", "/state/worktrees/w/own"];
    const reals = [
      "/home/u/project/sub",
      "/home/u/.ssh/config.d",
      "/state/worktrees/w/own/sub",
      "/state/scratch/id/a/b",
      "/state",
    ];
    for (const real of reals) await rg.run({ ...search, real }, roots, never);
    const shown = ["/home/u/.ssh/config.d", "/state/worktrees/w/own", "/state/scratch/id", "/state"];
    const profile = { write: [], protect: [], hide: closed(), network: "off" };
    expect(seen).toEqual(
      [[], ...shown.map((each) => [each])].map((more) => ({ ...profile, show: ["/tmp", ...more] })),
    );
  });

  it("tries once more with one thread when the host has none to spare", async () => {
    const { env } = fake('[ "$1" = -j ] && echo found && exit 0; echo "rg: os error 11" >&2; exit 2');
    const found = await new Ripgrep(exec, env).run(search, [], never);
    expect([found.exitCode, String(found.stdout)]).toEqual([0, "found\n"]);
  });

  it("gives what came by the deadline, and TIMEOUT when nothing did", async () => {
    const some = new Ripgrep(exec, fake("echo found; exec sleep 60").env, { deadlineMs: 400 });
    expect(await some.run(search, [], never)).toMatchObject({ exitCode: 0, partial: true });
    const none = new Ripgrep(exec, fake("exec sleep 60").env, { deadlineMs: 20 });
    await expect(none.run(search, [], never)).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it("stops at 20 MB", async () => {
    const found = await new Ripgrep(exec, fake("exec yes 0123456789").env).run(search, [], never);
    expect([found.partial, found.stdout.byteLength]).toEqual([true, 20_000_000]);
  });

  it("is CANCELLED by an abort, and nothing is left running", async () => {
    const stop = new AbortController();
    const run = new Ripgrep(exec, fake("exec sleep 60").env).run(search, [], stop.signal);
    setImmediate(() => stop.abort());
    await expect(run).rejects.toMatchObject({ code: "CANCELLED" });
    expect(exec.live).toBe(0);
  });

  it("takes no program from the workspace or a relative directory; without any UNAVAILABLE", async () => {
    const { bin } = fake("exit 0");
    const env = { PATH: `${bin}:.:relative`, CRUX_BUILTIN_RIPGREP: "false" };
    await expect(new Ripgrep(exec, env).run(search, [bin], never)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
  });
});

describe("/dev/fs grep of a directory that holds secrets", () => {
  const withSecrets = () => {
    const root = tempFolder();
    mkdirSync(join(root, "aws"));
    for (const name of [".env", "aws/credentials", "a.txt"]) writeFileSync(join(root, name), "needle\n");
    return root;
  };

  it("leaves them out of lines, counts and names, whatever the request includes", async () => {
    const root = withSecrets();
    const wide = { pattern: "needle", no_ignore: true };
    expect(lines(await grep(root, wide))).toEqual(["a.txt\x001:needle"]);
    expect(lines(await grep(root, { ...wide, output: "count" }))).toEqual(["a.txt\x001"]);
    expect(names(await grep(root, { ...wide, output: "files" }))).toEqual(["a.txt"]);
    expect(await grep(root, { ...wide, include: ".env" })).toMatchObject({ stdout: "", exit_code: 1 });
  });

  it("shows what was named itself", async () => {
    const root = withSecrets();
    expect((await grep(root, { pattern: "needle" }, "/./.env")).stdout).toContain("needle");
    expect((await grep(root, { pattern: "needle" }, "/./aws")).stdout).toContain("credentials\x001:needle");
  });
});

/** Longer than a busy machine may stop this process. */
const LONG_MS = 60_000;

test.each([
  ["*.ts", "a.ts", true],
  ["*.ts", "src/deep/a.ts", true],
  ["*.ts", "a.tsx", false],
  ["/*.ts", "a.ts", true],
  ["/*.ts", "src/a.ts", false],
  ["./src/*.ts", "src/a.ts", true],
  ["src/**", "src/deep/a.ts", true],
  ["src/**", "lib/src/a.ts", false],
  ["**/*", ".github/ci.yml", true],
  ["*.{ts,md}", "x/README.md", true],
  ["[ab].ts", "b.ts", true],
  ["caf\u00e9/?.md", "cafe\u0301/e\u0301.md", true],
  ["app/[id].tsx", "app/[id].tsx", true],
])("globFilter(%s) on %s: %s", (glob, path, expected) => {
  expect(globFilter(glob, LONG_MS)([path])).toEqual(expected ? [path] : []);
});

test.each(["", "[", "{a,b", "a".repeat(1_001)])("globFilter() refuses %j", (glob) => {
  expect(() => globFilter(glob)).toThrow(expect.objectContaining({ code: "INVALID" }));
});

test("globFilter() gives up a glob that would hold the thread for hours", () => {
  const glob = `${"*a".repeat(12)}b`;
  expect(globFilter(glob, LONG_MS)(["aab", "x"])).toEqual([]);
  expect(() => globFilter(glob)(["a".repeat(200)])).toThrow(expect.objectContaining({ code: "TIMEOUT" }));
});

test.each([
  ["/host*", 1],
  ["./a/*.ts", 2],
  ["src/*/x", 3],
  ["*.ts", undefined],
  ["src/**/x", undefined],
  ["/{a,b/c}", undefined],
])("depthOf(%j) is %j", (glob, depth) => {
  expect(depthOf(glob)).toBe(depth);
});
