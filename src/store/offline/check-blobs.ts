/** The files of large values: `blobs/<2 hex>/<62 hex>`, named after the SHA-256 of their content. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Findings } from "./check-findings.ts";
import type { ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";

interface BlobFile {
  readonly digest: string;
  readonly path: string;
  readonly bytes: number;
  /** Wall clock, ms. */
  readonly modifiedAt: number;
}

interface StrayFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** All blobs, folder by folder; `stray`: other files there. */
export async function* blobFiles(
  dir: string,
  pace: Pace,
): AsyncGenerator<{ blobs: BlobFile[]; stray: StrayFile[] }> {
  const root = join(dir, "blobs");
  for (const folder of (await namesIn(root)).sort()) {
    const blobs: BlobFile[] = [];
    const stray: StrayFile[] = [];
    for (const name of await namesIn(join(root, folder))) {
      const path = join(root, folder, name);
      const digest = `${folder}${name}`;
      const found = await stat(path).catch(() => undefined);
      if (found === undefined || !found.isFile()) continue;
      const file = { path, bytes: found.size, modifiedAt: found.mtimeMs };
      if (/^[0-9a-f]{64}$/.test(digest)) blobs.push({ ...file, digest });
      else stray.push(file);
    }
    yield { blobs, stray };
    await pace.next();
  }
}

export function isNamed(db: ToolsDatabase, digest: string): boolean {
  return db.sql("SELECT 1 FROM blob_refs WHERE digest = ? LIMIT 1").get(digest) !== undefined;
}

export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Checks the content and references of every blob, and reports stray files. Returns the number of blobs. */
export async function checkBlobs(db: ToolsDatabase, found: Findings, pace: Pace): Promise<number> {
  let count = 0;
  for await (const { blobs, stray } of blobFiles(db.dir, pace)) {
    for (const { path } of stray)
      found.notice({ code: "stale_part", detail: `${path} was begun and never finished` });
    for (const { digest, path, bytes } of blobs) {
      count++;
      if ((await digestOf(path)) !== digest)
        found.damage({
          code: "bad_blob",
          detail: `${path} is not what its name says`,
          repair: "move it to the quarantine",
        });
      else if (!isNamed(db, digest))
        found.notice({
          code: "orphan_blob",
          detail: `${path} (${bytes} bytes) is named by no record; the next collection removes it`,
        });
      await pace.next();
    }
  }
  return count;
}

async function namesIn(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => []);
}
