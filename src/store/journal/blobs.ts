/**
 * Large values, stored under their SHA-256 as `blobs/<2 hex>/<62 hex>`. A blob gets its name once it is complete and
 * synced, and its directory is synced before the caller is notified; a file that ends in `.part` was left by an
 * unfinished write.
 */
import { hash } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, rename, rm, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../abi/errors.ts";
import { JournalFault, toJournalFault } from "../fault.ts";
import type { Blob } from "./body.ts";

export const MAX_BLOB_BYTES = 64 * 1024 * 1024;

/** The path of a blob in the journal's directory. */
export function blobPath(dir: string, digest: string): string {
  return join(dir, "blobs", digest.slice(0, 2), digest.slice(2));
}

export function makeBlob(bytes: Uint8Array): Blob {
  return { digest: hash("sha256", bytes, "hex"), bytes };
}

export class BlobStore {
  readonly #dir: string;
  #parts = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Resolves once the blob is synced. Errors: JournalFault. */
  async put(blob: Blob): Promise<void> {
    const path = blobPath(this.#dir, blob.digest);
    try {
      if (!(await isFreshened(path))) await this.#write(path, blob.bytes);
      await syncDirectory(dirname(path));
    } catch (error) {
      throw toJournalFault(error, path);
    }
  }

  /** Errors: NOT_FOUND; INTERNAL: the bytes do not match the digest (the file is moved to quarantine); JournalFault. */
  async get(digest: string): Promise<Uint8Array> {
    if (!/^[0-9a-f]{64}$/.test(digest)) throw notFound(digest);
    const path = blobPath(this.#dir, digest);
    const bytes = await readFile(path).catch((error: unknown) => {
      throw (error as NodeJS.ErrnoException).code === "ENOENT"
        ? notFound(digest)
        : toJournalFault(error, path);
    });
    if (hash("sha256", bytes, "hex") === digest) return bytes;
    const aside = await this.#setAside(path, digest);
    const message = `blob ${digest} is damaged: its bytes are not those of its name${aside}`;
    throw new Fault({ code: "INTERNAL", message });
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#makeDirectory(dirname(path));
    const part = `${path}.${process.pid}-${++this.#parts}-${performance.now().toFixed(0)}.part`;
    try {
      const file = await open(part, "wx", 0o600);
      try {
        await file.writeFile(bytes);
        await syncFile(file, part);
      } finally {
        await file.close();
      }
      await rename(part, path);
    } catch (error) {
      await rm(part, { force: true }).catch(() => {});
      throw error;
    }
  }

  async #makeDirectory(directory: string): Promise<void> {
    const made = await mkdir(directory, { recursive: true, mode: 0o700 });
    if (made === undefined) return;
    await syncDirectory(join(this.#dir, "blobs"));
    await syncDirectory(this.#dir);
  }

  async #setAside(path: string, digest: string): Promise<string> {
    const directory = join(this.#dir, "quarantine");
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await rename(path, join(directory, digest));
      return `; it was moved to ${directory}`;
    } catch {
      return "";
    }
  }
}

/**
 * Whether the blob exists; renews its modification time, so that the collection of old unreferenced blobs spares it.
 */
async function isFreshened(path: string): Promise<boolean> {
  const now = new Date();
  return utimes(path, now, now).then(
    () => true,
    () => false,
  );
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await syncFile(handle, directory);
  } finally {
    await handle.close();
  }
}

/** A failed sync is not retried: the operating system may already have dropped the unwritten pages. */
async function syncFile(file: FileHandle, path: string): Promise<void> {
  await file.sync().catch((error: unknown) => {
    throw new JournalFault("journal_sync_failed", `${path}: ${(error as Error).message}`, { cause: error });
  });
}

function notFound(digest: string): Fault {
  return new Fault({ code: "NOT_FOUND", message: `no blob ${digest.slice(0, 100)}` });
}
