/** Files that a search named, newest modification first. */
import { posix } from "node:path";
import { findStat, type Io } from "../files.ts";

/** Beyond, files keep their order by name: one look at each costs as much as reading it. */
const MAX_LOOKS = 1000;
const AT_ONCE = 16;

/** `paths` are below `root`. Equal times: by name. */
export async function newestFirst(io: Io, root: string, paths: readonly string[]): Promise<string[]> {
  const looked: { path: string; at: bigint }[] = [];
  const first = paths.slice(0, MAX_LOOKS);
  for (let i = 0; i < first.length; i += AT_ONCE) {
    const batch = first
      .slice(i, i + AT_ONCE)
      .map(async (path) => ({ path, at: await modified(io, root, path) }));
    looked.push(...(await Promise.all(batch)));
  }
  looked.sort((a, b) => (a.at === b.at ? (a.path < b.path ? -1 : 1) : a.at < b.at ? 1 : -1));
  return [...looked.map((file) => file.path), ...paths.slice(MAX_LOOKS)];
}

async function modified(io: Io, root: string, path: string): Promise<bigint> {
  const stat = await findStat(io, posix.join(root, path));
  return BigInt(stat?.mtime_ns ?? 0);
}
