/** What the host knows of an entry, in the words of the contract. */
import type { BigIntStats, Dirent } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import type { FileStat, HostStat } from "../../abi/device.ts";

/** What the path, whose links are resolved, leads to. NOT_FOUND for a link to nothing. */
export async function statEntry(real: string, name = basename(real)): Promise<FileStat> {
  const stats = await lstat(real, { bigint: true });
  const host: HostStat = {
    kind: kindOf(stats),
    mtimeNs: String(stats.mtimeNs),
    inode: String(stats.ino),
    mode: Number(stats.mode & 0o7777n),
  };
  return { name: name || "/", size: Number(stats.size), isDevice: false, devicePath: "/dev/fs", host };
}

export function kindOf(entry: BigIntStats | Dirent): HostStat["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isFIFO()) return "fifo";
  return entry.isSocket() ? "socket" : "device";
}
