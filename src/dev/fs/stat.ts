/** What the host knows of an entry, in the words of the contract. */
import type { BigIntStats, Dirent } from "node:fs";
import type { FsStat } from "../../abi/fs-ops.ts";

export function kindOf(entry: BigIntStats | Dirent): FsStat["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isFIFO()) return "fifo";
  return entry.isSocket() ? "socket" : "device";
}

export function fsStat(stats: BigIntStats, realPath: string): FsStat {
  return {
    kind: kindOf(stats),
    size: Number(stats.size),
    mtime_ns: String(stats.mtimeNs),
    inode: String(stats.ino),
    mode: Number(stats.mode & 0o7777n),
    nlink: Number(stats.nlink),
    real_path: realPath,
  };
}
