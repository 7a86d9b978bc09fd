import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { SandboxProfile } from "../../../abi/sandbox.ts";
import { HostProcesses } from "../exec.ts";
import { needsOf } from "./needs.ts";
import { SandboxFinder } from "./probe.ts";
import { Sandboxes } from "./sandbox.ts";

let tmp = "";
beforeEach(() => {
  tmp = realpathSync(mkdtempSync("/tmp/it's a $HOME é "));
  onTestFinished(() => rmSync(tmp, { recursive: true, force: true }));
});

/** Returns its path. */
function file(name: string, content = ""): string {
  const path = join(tmp, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode: 0o755 });
  return path;
}

const needs = (argv: readonly string[], fields: Partial<Parameters<typeof needsOf>[0]> = {}) =>
  needsOf({ argv, cwd: "/", env: {}, hidden: [], seen: [], own: [], ...fields });

describe("needsOf()", () => {
  it("is nothing where nothing lies among temporary files", () => {
    const none = { show: [], hide: [], links: [] };
    expect(
      needs(["/usr/bin/env", "/etc/hosts", "x"], { env: { PATH: "/usr/bin:/tmp" }, cwd: "/tmp" }),
    ).toEqual(none);
  });

  it("is the program with what was installed beside it, and the packages it is among", () => {
    file("venv/pyvenv.cfg");
    expect(needs([file("venv/bin/python")]).show).toEqual([join(tmp, "venv")]);
    expect(needs([file("own/bin/server")]).show).toEqual([join(tmp, "own/bin")]);
    expect(needs([file("tools/server")]).show).toEqual([join(tmp, "tools")]);
    const cli = file("app/node_modules/a/node_modules/b/dist/cli.js");
    expect(needs(["/usr/bin/node", cli]).show).toEqual([join(tmp, "app/node_modules")]);
  });

  it("is the script with its project: the repository, else the outermost package", () => {
    file("mono/package.json");
    file("mono/packages/one/package.json");
    const script = file("mono/packages/one/src/server.mjs");
    expect(needs(["/usr/bin/node", "--enable-source-maps", script]).show).toEqual([join(tmp, "mono")]);
    mkdirSync(join(tmp, "mono/packages/.git"));
    expect(needs(["/usr/bin/node", script]).show).toEqual([join(tmp, "mono/packages")]);
    expect(needs(["/usr/bin/node", "src/server.mjs"], { cwd: dirname(dirname(script)) }).show).toContain(
      join(tmp, "mono/packages"),
    );
  });

  it("takes no word of a shell text for a script, and no folder that is only named", () => {
    const script = file("a/run.sh");
    expect(needs(["/bin/bash", "--norc", "-c", script]).show).toEqual([]);
    expect(needs(["/bin/bash", "-lc", "x", script]).show).toEqual([]);
    expect(needs(["/usr/bin/server", dirname(script)]).show).toEqual([]);
  });

  it("is the working folder and the folders of the PATH", () => {
    const [tool, work] = [file("tools/bin/x"), dirname(file("work/y"))];
    const PATH = `/usr/bin:${dirname(tool)}:${join(tmp, "absent")}`;
    expect(needs(["/usr/bin/env"], { cwd: work, env: { PATH } }).show).toEqual([
      work,
      join(tmp, "tools/bin"),
    ]);
  });

  it("has the links by which it was named", () => {
    const real = file("node-24/bin/node");
    mkdirSync(join(tmp, "node-24/share"));
    symlinkSync("node-24", join(tmp, "current"));
    expect(needs([join(tmp, "current/bin/node")])).toEqual({
      show: [join(tmp, "node-24")],
      hide: [],
      links: [{ path: join(tmp, "current"), to: "node-24" }],
    });
    const venv = join(tmp, "venv/bin");
    mkdirSync(venv, { recursive: true });
    symlinkSync(real, join(venv, "node"));
    expect(needs([join(venv, "node")])).toEqual({
      show: [join(tmp, "venv/bin"), join(tmp, "node-24")],
      hide: [],
      links: [],
    });
  });

  it("opens nothing that is hidden, leaves as it is what is seen, and hides sockets", async () => {
    const script = file("a/b/server.js");
    expect(needs(["/usr/bin/node", script], { hidden: [join(tmp, "a")] }).show).toEqual([]);
    expect(needs(["/usr/bin/node", script], { seen: [tmp] }).show).toEqual([]);
    mkdirSync(join(tmp, "a/b/run"));
    const socket = join(tmp, "a/b/run/s");
    const listener = createServer().listen(socket);
    onTestFinished(() => void listener.close());
    expect(needs(["/usr/bin/node", script]).hide).toEqual([socket]);
    expect(needs(["/usr/bin/node", script], { seen: [dirname(socket)] }).hide).toEqual([]);
  });
});

describe.runIf(new SandboxFinder({ keeper: undefined }).get().available)(
  "a sandboxed program among temporary files",
  () => {
    /** What it printed; its own words where it did not start. */
    async function run(
      argv: readonly string[],
      fields: Partial<SandboxProfile> = {},
      cwd = "/",
    ): Promise<string> {
      const sandboxes = new Sandboxes({ dir: join(tmp, "sb") });
      // over pipes, which keep the order in which both streams were written
      const exec = new HostProcesses({
        kernelId: "k-needs",
        epoch: 1,
        pipesDir: join(tmp, "pipes"),
        sandboxes,
      });
      const chunks: string[] = [];
      const child = exec.run(
        {
          argv: [...argv],
          cwd,
          env: { PATH: "/usr/bin:/bin" },
          owner: "test",
          isMerged: true,
          onOutput: (_stream, chunk) => void chunks.push(chunk.toString("utf8")),
          sandbox: { write: [], protect: [], hide: [], show: [], network: "off", ...fields },
        },
        new AbortController().signal,
      );
      const { error } = await child.exited;
      await exec.close();
      return error?.message ?? chunks.join("").trim();
    }

    it("starts with its interpreter, its modules and its folder, and sees nothing else of them", async () => {
      file("other/secret", "no");
      file("app/package.json", '{"type":"module"}');
      file("app/lib/word.js", 'export const word = "here";');
      const script = file(
        "app/src/main.js",
        `import { readdirSync, writeFileSync } from "node:fs"; import { word } from "../lib/word.js";
       let wrote = "wrote"; try { writeFileSync(new URL("../x", import.meta.url), ""); } catch (e) { wrote = e.code; }
       console.log(word, wrote, readdirSync(${JSON.stringify(tmp)}).join());`,
      );
      const bin = join(tmp, "bin");
      mkdirSync(bin);
      symlinkSync(process.execPath, join(bin, "node"));
      expect(await run([join(bin, "node"), script])).toBe("here EROFS app,bin");
      const hidden = { hide: [join(tmp, "app/lib")] };
      expect(await run([join(bin, "node"), script], hidden)).toContain("ERR_MODULE_NOT_FOUND");
    });

    it("works in a folder there, which it can only read unless it may write", async () => {
      const work = dirname(file("work/a"));
      const script = "ls; echo x > b";
      expect(await run(["/bin/sh", "-c", script], {}, work)).toMatch(/^a\n.*Read-only file system$/);
      expect(await run(["/bin/sh", "-c", script], { write: [work] }, work)).toBe("a");
      expect(await run(["/bin/sh", "-c", "ls"], {}, work)).toBe("a\nb");
      expect(await run(["/bin/sh", "-c", "ls"], { hide: [tmp] }, work)).toContain(
        "hides the working directory",
      );
    });

    it("finds the repository it works in from any folder of it, and changes nothing above its own", async () => {
      const below = dirname(file("repo/a/b/x"));
      const git = (...words: string[]) =>
        spawnSync("git", words, { cwd: join(tmp, "repo"), encoding: "utf8" });
      git("init", "-q", "-b", "main");
      const script =
        "git rev-parse --show-toplevel --show-prefix && git status --short . ; echo x > ../c; echo y > y; ls";
      const out = await run(["/bin/bash", "-c", script], { write: [below] }, below);
      expect(out).toContain(`${join(tmp, "repo")}\na/b/\n?? ./`);
      expect(out).toMatch(/Read-only file system\nx\ny$/);
      expect(
        await run(["/bin/bash", "-c", script], { write: [below], hide: [join(tmp, "repo/.git")] }, below),
      ).toMatch(/not a git repository/);
    });

    it("is a script of its own there, found by a link", async () => {
      const script = file("deep/er/run.sh", `#!/bin/sh\ncat "\${0%/*}/../word"\n`);
      file("deep/word", "said");
      mkdirSync(join(tmp, "deep/.git"));
      symlinkSync(script, join(tmp, "named"));
      symlinkSync("deep/er", join(tmp, "er"));
      expect(await run([join(tmp, "er/run.sh")])).toBe("said");
      expect(spawnSync(join(tmp, "named"), { encoding: "utf8" }).stderr).toContain("No such file");
    });
  },
);
