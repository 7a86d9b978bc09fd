import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { removeDurably, replaceDurably, writeDurably } from "./durable-file.ts";

/** A folder, and what was synced of it: its file or itself, with the names that it had then. */
async function bench() {
  const dir = mkdtempSync(join(tmpdir(), "crux-durable-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const handle = await open(dir);
  const synced: string[] = [];
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = prototype.sync;
  const spy = vi.spyOn(prototype, "sync").mockImplementation(async function (this: FileHandle) {
    const isFolder = (await this.stat()).isDirectory();
    synced.push(isFolder ? `folder of ${readdirSync(dir).join()}` : "file");
    await sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  return { path: join(dir, "a"), synced };
}

test("a file that was written is synced, then its name; an existing one is not replaced unasked", async () => {
  const { path, synced } = await bench();
  await writeDurably(path, "one");
  expect(synced).toEqual(["file", "folder of a"]);
  await expect(writeDurably(path, "two")).rejects.toMatchObject({ code: "EEXIST" });
  await writeDurably(path, "three", { flag: "w" });
  expect(readFileSync(path, "utf8")).toBe("three");
});

test("a replaced one is whole before it has the name, and a removed one is gone for good", async () => {
  const { path, synced } = await bench();
  await writeDurably(path, "one");
  synced.length = 0;
  await replaceDurably(path, "two");
  expect(synced).toEqual(["file", "folder of a,a.new", "folder of a"]);
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["two", 0o600]);
  await removeDurably(path);
  expect(synced.at(-1)).toBe("folder of ");
});
