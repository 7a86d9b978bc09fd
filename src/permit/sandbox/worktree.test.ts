import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

it.each([
  ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
  ["a link to a device that never ends", (path: string) => symlinkSync("/dev/zero", path)],
])("repositoryOf() does not wait where a folder brings %s for its repository", (_, make) => {
  const root = realpathSync(mkdtempSync("/var/tmp/crux-worktree-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "own"));
  writeFileSync(join(root, ".git"), "gitdir: own\n");
  make(join(root, "own/gitdir"));
  // in a program of its own: it would hold its thread forever
  const url = JSON.stringify(new URL("./worktree.ts", import.meta.url));
  const code = `import { repositoryOf } from ${url}; console.log(repositoryOf(process.argv[1]));`;
  const argv = ["--max-old-space-size=64", "--input-type=module", "-e", code, root];
  const { stdout } = spawnSync(process.execPath, argv, { encoding: "utf8", timeout: 20_000 });
  expect(stdout).toBe("undefined\n");
});
