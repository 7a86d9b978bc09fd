import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readPlan, writePlan } from "./plan-file.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-plan-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("readPlan() reads a file, and nothing of what stands in its place", async () => {
  const path = join(dir, "plan.md");
  expect(await readPlan(path)).toBe("");
  writeFileSync(path, "# Plan\n");
  expect(await readPlan(path)).toBe("# Plan\n");
  rmSync(path);
  writeFileSync(join(dir, "secret"), "key");
  symlinkSync(join(dir, "secret"), path);
  expect(await readPlan(path)).toBe("");
  expect(await readPlan(dir)).toBe("");
  expect(await readPlan(join(dir, "secret", "plan.md"))).toBe("");
});

test("writePlan() replaces it whole, follows no link, and leaves nothing beside it", async () => {
  const path = join(dir, "plan.md");
  writeFileSync(join(dir, "other"), "untouched");
  symlinkSync(join(dir, "other"), path);
  await writePlan(path, "new", "1");
  expect(await readPlan(path)).toBe("new");
  expect(await readPlan(join(dir, "other"))).toBe("untouched");
  expect(readdirSync(dir).sort()).toEqual(["other", "plan.md"]);
});

test("writePlan() returns once the folder is synced, so that the plan outlasts a loss of power", async () => {
  const synced: number[] = [];
  await using any = await open(dir);
  const handle = Object.getPrototypeOf(any) as FileHandle;
  const real = handle.sync;
  handle.sync = async function (this: FileHandle) {
    synced.push((await this.stat()).ino);
    await real.call(this);
  };
  try {
    await writePlan(join(dir, "plan.md"), "new", "1");
  } finally {
    handle.sync = real;
  }
  expect(synced).toEqual([statSync(join(dir, "plan.md")).ino, statSync(dir).ino]);
});
