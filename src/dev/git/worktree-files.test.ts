import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { MARKER, ownerOf, taken } from "./worktree-files.ts";

it("a pipe that a program puts in the place of the marker keeps nobody waiting", async () => {
  const main = realpathSync(mkdtempSync(join(tmpdir(), "crux-marker-")));
  onTestFinished(() => rmSync(main, { recursive: true }));
  const [gitDir, path] = [join(main, ".git"), join(main, "tree")];
  const own = join(gitDir, "worktrees/tree");
  for (const dir of [own, path]) mkdirSync(dir, { recursive: true });
  writeFileSync(join(path, ".git"), `gitdir: ${own}\n`);
  execFileSync("mkfifo", [join(own, MARKER)]);
  expect(await ownerOf(path)).toBeUndefined();
  await expect(taken(path, { main, gitDir })).rejects.toThrow("not a regular file");
});
