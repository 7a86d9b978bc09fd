/** What a change of a host file replaces, told to whoever keeps it before anything is changed. The path's lock is held. */
import { createHash } from "node:crypto";
import { type BigIntStats, lstatSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Caller, FileChange, HostEntry } from "../../abi/device.ts";
import { openToRead } from "./regular.ts";

/** A file over this is told of, and not looked at: what it holds cannot be kept. */
const maxKeptBytes = 64 * 1024 * 1024;

const ABSENT: HostEntry = { kind: "absent" };

interface Announced {
  readonly path: string;
  /** What lies at `path` now, itself and not what it leads to; undefined: nothing. */
  readonly before: BigIntStats | undefined;
  readonly after: HostEntry;
  readonly made?: readonly string[];
  readonly call?: FileChange["call"];
}

/** The mode that a written file gets instead of its own; null: its own. Rejects: the change may not happen. */
export async function announce(changing: Caller["changing"], told: Announced): Promise<number | null> {
  if (changing === undefined) return null;
  const { path, after, made = [], call } = told;
  const { entry: before, content } = await entryOf(path, told.before);
  const change = { path, before, after, made, content, ...(call === undefined ? {} : { call }) };
  return (await changing(change)).mode;
}

/** A link is `other`: what it leads to is not told by it. */
export async function announceGone(
  changing: Caller["changing"],
  path: string,
  call: FileChange["call"],
): Promise<void> {
  const before = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  await announce(changing, { path, before, after: ABSENT, ...(call === undefined ? {} : { call }) });
}

/** A directory. */
export async function announceMade(
  changing: Caller["changing"],
  path: string,
  call: FileChange["call"],
): Promise<void> {
  const before = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const after: HostEntry = { kind: "directory" };
  await announce(changing, { path, before, after, ...(call === undefined ? {} : { call }) });
}

/** Two changes: one place loses what the other gets. */
export async function announceMove(
  changing: Caller["changing"],
  from: string,
  to: string,
  call: FileChange["call"],
): Promise<void> {
  if (changing === undefined) return;
  const named = call === undefined ? {} : { call };
  const moved = lstatSync(from, { bigint: true, throwIfNoEntry: false });
  const { entry } = await entryOf(from, moved);
  const before = lstatSync(to, { bigint: true, throwIfNoEntry: false });
  await announce(changing, { path: to, before, after: entry, ...named });
  await announce(changing, { path: from, before: moved, after: ABSENT, ...named });
}

async function entryOf(
  path: string,
  stats: BigIntStats | undefined,
): Promise<{ entry: HostEntry; content: () => Promise<Uint8Array> }> {
  const none = { content: async () => new Uint8Array() };
  if (stats === undefined) return { ...none, entry: ABSENT };
  if (stats.isDirectory()) return { ...none, entry: { kind: "directory" } };
  if (!stats.isFile()) return { ...none, entry: { kind: "other" } };
  const mode = Number(stats.mode & 0o7777n);
  if (stats.size > maxKeptBytes) return { ...none, entry: { kind: "file", digest: null, mode } };
  const bytes = await bytesOf(path);
  const digest = createHash("sha256").update(bytes).digest("hex");
  return { entry: { kind: "file", digest, mode }, content: async () => bytes };
}

async function bytesOf(path: string): Promise<Uint8Array> {
  const handle = await openToRead(path, "Write");
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Makes what is missing of the directories above `path`; those made, the outermost first. */
export async function makeParents(path: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = dirname(path); lstatSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at))
    missing.unshift(at);
  if (missing.length > 0) await mkdir(dirname(path), { recursive: true });
  return missing;
}
