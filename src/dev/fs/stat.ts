/** The host's information about an entry, in the terms of the device contract. */
import type { BigIntStats, Dirent } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import type { FileStat, HostStat } from "../../abi/device.ts";
import { Folder } from "../folder.ts";

/** The entry at a path whose links are resolved. NOT_FOUND: a link to a missing file. */
export async function statEntry(real: string, name = basename(real)): Promise<FileStat> {
  using folder = Folder.of(real, "Stat");
  const stats = await lstat(folder.at(real), { bigint: true });
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
