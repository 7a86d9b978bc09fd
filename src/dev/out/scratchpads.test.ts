import { existsSync, mkdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { asProcUuid } from "../../abi/ids.ts";
import { tempFolder } from "../testing.ts";
import { ScratchStore } from "./scratch.ts";
import { ScratchpadStore } from "./scratchpads.ts";

const A = asProcUuid("aaaaaaaa-0000-4000-8000-000000000000");
const B = asProcUuid("bbbbbbbb-0000-4000-8000-000000000000");
const warn = vi.fn();
const storeOf = (max?: { bytes: number; entries: number }) =>
  new ScratchpadStore(join(tempFolder(), "scratchpads"), {
    ...{ isForAll: () => false, warn },
    ...(max === undefined ? {} : { max }),
  });

it("a session has none until it is made, private to the user, and finds it again", () => {
  const store = storeOf();
  expect(store.find(A)).toBeNull();
  const path = store.open(A)!;
  expect([store.open(A), store.find(A), store.find(B)]).toEqual([path, path, null]);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it("says in documented words why a folder cannot be made", () => {
  const root = join(tempFolder(), "scratch");
  const folders = new ScratchStore(root);
  rmSync(root, { recursive: true });
  writeFileSync(root, "");
  const message = `file not found: ${join(root, A)}`;
  expect(() => folders.scratchDir(A)).toThrow(expect.objectContaining({ code: "NOT_FOUND", message }));
});

it("holds 256 MiB: what is written beyond is BUDGET, until something is removed", async () => {
  const store = storeOf();
  const path = store.open(A)!;
  const big = join(path, "big");
  writeFileSync(big, "");
  truncateSync(big, 256 * 1024 ** 2);
  symlinkSync("/usr", join(path, "link"));
  truncateSync(big, 256 * 1024 ** 2 - statSync(big).blksize);
  expect(await store.full(path)).toBeNull();
  await store.checkRoom(big);
  truncateSync(big, 257 * 1024 ** 2);
  expect(await store.full(path)).toContain("may hold 256 MiB");
  await expect(store.checkRoom(join(path, "new"))).rejects.toMatchObject({ code: "BUDGET" });
  // what replaces it makes room
  await store.checkRoom(big, { bytes: 257 * 1024 ** 2, entries: 1 });
  await store.checkRoom(join(store.open(B)!, "new"));
  await store.checkRoom("/somewhere/else");
});

it("holds a number of files, whatever folders they lie in", async () => {
  const store = storeOf({ bytes: 1_000, entries: 3 });
  const path = store.open(A)!;
  mkdirSync(join(path, "d"));
  for (const name of ["a", "d/b"]) writeFileSync(join(path, name), "x");
  await store.checkRoom(join(path, "d/b"));
  await expect(store.checkRoom(join(path, "c"), { bytes: 0, entries: -1 })).rejects.toMatchObject({
    ...{ code: "BUDGET", message: expect.stringContaining("3 files") },
  });
});

it("goes with the last process of its session", async () => {
  const store = storeOf();
  const [a, b] = [store.open(A)!, store.open(B)!];
  await store.released(A, (session) => session === A);
  expect(existsSync(a)).toBe(true);
  await store.released(asProcUuid("c-child"), () => false);
  expect([existsSync(a), existsSync(b)]).toEqual([false, true]);
});
