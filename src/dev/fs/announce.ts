/**
 * Announces each change of a host file before it is made, so that the content it replaces can be kept. The caller
 * holds the path's lock.
 */
import { createHash } from "node:crypto";
import { type BigIntStats, lstatSync } from "node:fs";
import type { Caller, FileChange, HostEntry } from "../../abi/device.ts";
import { bytesOf } from "./regular.ts";

/** A larger file is announced without its content, which cannot be kept. */
const maxKeptBytes = 64 * 1024 * 1024;

const ABSENT: HostEntry = { kind: "absent" };

interface Announced {
  readonly path: string;
  /** The current entry at `path`, links not followed; undefined: no entry. */
  readonly before: BigIntStats | undefined;
  readonly after: HostEntry;
  readonly made?: readonly string[];
}

/** Announces the changes of one call; `changing` undefined: changes are not announced. */
export class Announcer {
  readonly #changing: Caller["changing"];
  readonly #call: FileChange["call"];

  constructor(changing: Caller["changing"], call?: FileChange["call"]) {
    this.#changing = changing;
    this.#call = call;
  }

  /**
   * Returns the mode that a written file gets instead of its own; null: its own. Rejects: the change must not happen.
   */
  async tell({ path, before: stats, after, made = [] }: Announced): Promise<number | null> {
    if (this.#changing === undefined) return null;
    const { entry: before, content } = await entryOf(path, stats);
    const call = this.#call === undefined ? {} : { call: this.#call };
    return (await this.#changing({ path, before, after, made, content, ...call })).mode;
  }

  /** Announces a removal. A link has the kind `other`: its target is not recorded. */
  async gone(path: string): Promise<void> {
    await this.tell({ path, before: statsOf(path), after: ABSENT });
  }

  /** Announces a new directory. */
  async made(path: string): Promise<void> {
    await this.tell({ path, before: statsOf(path), after: { kind: "directory" } });
  }

  /** Announces a rename as two changes: one path gets what the other loses. */
  async moved(from: string, to: string): Promise<void> {
    if (this.#changing === undefined) return;
    const before = statsOf(from);
    const { entry } = await entryOf(from, before);
    await this.tell({ path: to, before: statsOf(to), after: entry });
    await this.tell({ path: from, before, after: ABSENT });
  }
}

function statsOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
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
