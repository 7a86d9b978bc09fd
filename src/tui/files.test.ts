import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Files } from "./files.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "crux-files-"));
  for (const folder of [".git", "src/deep", "out", "my notes"])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of [".git/config", "src/a.ts", "src/deep/b.ts", "src/deep/c.log", "out/x", "my notes/n.md"])
    writeFileSync(join(root, file), "");
  writeFileSync(join(root, ".gitignore"), "out/\n*.log\n");
  writeFileSync(join(root, "src/deep/.gitignore"), "!c.log\n");
  symlinkSync(root, join(root, "loop"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("Files has what is there, the near first, without what git ignores, and follows no link", async () => {
  let changes = 0;
  using files = new Files(root, () => void changes++);
  await files.look();
  expect(files.paths).toEqual([
    ...[".gitignore", "loop", "my notes/", "src/", "my notes/n.md", "src/a.ts", "src/deep/"],
    ...["src/deep/.gitignore", "src/deep/b.ts", "src/deep/c.log"],
  ]);
  // as it goes, a folder at a time
  expect(changes).toBe(4);
  writeFileSync(join(root, "new"), "");
  await files.look();
  expect(files.paths).toContain("new");
});

test("Files stops when it is told to, and has nothing of a folder that is not there", async () => {
  const files = new Files(root, () => {});
  const looking = files.look();
  files[Symbol.dispose]();
  await looking;
  expect(files.paths).toEqual([]);
  using none = new Files(join(root, "none"), () => {});
  await none.look();
  expect(none.paths).toEqual([]);
});
