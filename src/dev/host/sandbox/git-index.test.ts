/** What git itself wrote is read as it is, in each version of the format; what names a git directory is found in each. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HashBytes, isStrangeIndex } from "./git-index.ts";

const FILES = 300;
let work: string;
let index: Buffer;
const git = (...args: string[]) => execFileSync("git", args, { cwd: work, stdio: "pipe" });
afterAll(() => rmSync(work, { recursive: true, force: true }));

describe.each([
  ["version 2", "sha1", ["update-index", "--index-version", "2"]],
  ["version 4", "sha1", ["update-index", "--index-version", "4"]],
  ["version 3", "sha1", ["update-index", "--skip-worktree", "d1/f1.git"]],
  ["longer hashes", "sha256", ["update-index", "--index-version", "4"]],
  ["parts", "sha1", ["-c", "index.threads=3", "update-index", "--force-write-index"]],
] as const)("an index with %s", (what, format, change) => {
  const hash: HashBytes = format === "sha1" ? 20 : 32;
  beforeAll(() => {
    if (work !== undefined) rmSync(work, { recursive: true, force: true });
    work = realpathSync(mkdtempSync(join(tmpdir(), "crux-git-index-")));
    git("init", "-q", `--object-format=${format}`);
    for (let n = 0; n < FILES; n++) {
      mkdirSync(join(work, `d${n % 7}`), { recursive: true });
      writeFileSync(join(work, `d${n % 7}`, `f${n}.git`), `${n}`);
    }
    writeFileSync(join(work, "x.git.y"), "");
    writeFileSync(join(work, `${"l".repeat(200)}-@git`), "");
    git("add", "-A");
    git(...change);
    index = readFileSync(join(work, ".git/index"));
  });

  test("is git's own", () => {
    expect(isStrangeIndex(index, hash)).toBe(false);
  });

  test.each([".git/hk", ".GIT/hk", "a/.git/", "../evil", "a/../bc", "/abcdef", "a\0b.git"])(
    "is strange with the name %j",
    (name) => {
      const at = index.indexOf("x.git.y");
      const bad = Buffer.from(index);
      bad.write(name, at, "latin1");
      expect(bad.toString("latin1", at, at + 7)).toBe(name);
      expect(isStrangeIndex(bad, hash)).toBe(true);
    },
  );

  test("is strange when it is cut or its parts lie elsewhere", () => {
    expect(isStrangeIndex(index.subarray(0, index.length >> 1), hash)).toBe(true);
    expect(isStrangeIndex(Buffer.alloc(0), hash)).toBe(true);
    const at = index.indexOf("IEOT");
    expect(at >= 0).toBe(what === "parts");
    if (what !== "parts") return;
    const moved = Buffer.from(index);
    moved.writeUInt32BE(moved.readUInt32BE(at + 12) + 8, at + 12);
    expect(isStrangeIndex(moved, hash)).toBe(true);
  });
});
