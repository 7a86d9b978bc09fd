/** The disk space that the journal uses. */
import { statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Usage } from "../../kernel/ports/journal-tools.ts";
import { blobFiles } from "./check-blobs.ts";
import type { ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";

export async function measureUsage(db: ToolsDatabase, maxBytes: number, pace: Pace): Promise<Usage> {
  const { dir } = db;
  let [blobBytes, blobs] = [0, 0];
  for await (const page of blobFiles(dir, pace)) {
    blobs += page.blobs.length;
    for (const { bytes } of page.blobs) blobBytes += bytes;
  }
  const [pages, free, size] = ["page_count", "freelist_count", "page_size"].map((name) =>
    Number(db.sql(`PRAGMA ${name}`).get()?.[name]),
  ) as [number, number, number];
  const counts = db
    .sql("SELECT count(*) AS processes, coalesce(sum(last_seq), 0) AS records FROM processes")
    .get();
  const disk = statfsSync(dir);
  return {
    databaseBytes: (pages - free) * size + sizeOf(join(dir, "journal.db-wal")),
    reusableBytes: free * size,
    blobBytes,
    blobs,
    records: Number(counts?.records),
    // the kernel's own history is not counted as a process
    processes: Math.max(0, Number(counts?.processes) - 1),
    maxBytes,
    freeBytes: disk.bavail * disk.bsize,
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
