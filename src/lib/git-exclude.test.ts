import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { excludeFromGit } from "./git-exclude.ts";

let git = "";
beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), "crux-exclude-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  git = join(dir, "git");
  mkdirSync(git);
  writeFileSync(join(dir, "other"), "theirs\n");
});

const file = () => join(git, "info/exclude");

describe("excludeFromGit()", () => {
  it("adds its line once, and keeps what is there", () => {
    for (const _ of [1, 2]) excludeFromGit(git, "a");
    expect(readFileSync(file(), "utf8")).toBe("a\n");
    writeFileSync(file(), "b");
    excludeFromGit(git, "a");
    expect(readFileSync(file(), "utf8")).toBe("b\na\n");
  });

  it("follows no link, and waits for no pipe", () => {
    mkdirSync(join(git, "info"));
    symlinkSync("../../other", file());
    expect(() => excludeFromGit(git, "a")).toThrow("ELOOP");
    rmSync(file());
    execFileSync("mkfifo", [file()]);
    expect(() => excludeFromGit(git, "a")).toThrow("not a regular file");
    rmSync(file());
    renameSync(join(git, "info"), join(git, "../elsewhere"));
    symlinkSync("../elsewhere", join(git, "info"));
    expect(() => excludeFromGit(git, "a")).toThrow("not a directory");
    expect(readFileSync(join(git, "../other"), "utf8")).toBe("theirs\n");
  });
});
