import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BlobStore, blobPath, makeBlob } from "./blobs.ts";

let dir: string;
let store: BlobStore;
const blob = makeBlob(Buffer.from("the content of a file"));
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-blobs-"));
  store = new BlobStore(dir);
});
afterEach(() => rmSync(dir, { recursive: true }));

describe("BlobStore", () => {
  test("put() leaves one private file by its digest, however many put it at once", async () => {
    await Promise.all(Array.from({ length: 8 }, () => store.put(blob)));
    const path = blobPath(dir, blob.digest);
    expect(readFileSync(path)).toEqual(blob.bytes);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const files = readdirSync(join(dir, "blobs"), { recursive: true, withFileTypes: true });
    expect(files.filter((file) => file.isFile()).map(({ name }) => name)).toEqual([blob.digest.slice(2)]);
  });

  test("put() of one that is there makes it young again", async () => {
    await store.put(blob);
    utimesSync(blobPath(dir, blob.digest), 1_000, 1_000);
    await store.put(blob);
    expect(statSync(blobPath(dir, blob.digest)).mtimeMs).toBeGreaterThan(1_000_000_000);
  });

  test("get() of a damaged one is INTERNAL and sets it aside; it can be put again", async () => {
    await store.put(blob);
    writeFileSync(blobPath(dir, blob.digest), "the content of a fila");
    await expect(store.get(blob.digest)).rejects.toMatchObject({ code: "INTERNAL" });
    expect(readdirSync(join(dir, "quarantine"))).toEqual([blob.digest]);
    await expect(store.get(blob.digest)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await store.put(blob);
    expect(await store.get(blob.digest)).toEqual(blob.bytes);
  });

  test("put() where nothing can be made is UNAVAILABLE and leaves nothing", async () => {
    writeFileSync(join(dir, "blobs"), "");
    await expect(store.put(blob)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(readdirSync(dir)).toEqual(["blobs"]);
  });
});
