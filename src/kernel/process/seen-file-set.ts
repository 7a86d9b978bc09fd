/**
 * What a process has seen of files, so that its tools change no file it has not seen. Recorded in its history: a later
 * daemon and a fork have it too; a child begins with nothing. A record lost in a crash costs one more view of a file,
 * never a lost change.
 */
import type { SeenFile } from "../../abi/device.ts";
import { RecentMap } from "../../lib/maps/recent-map.ts";
import type { Facet } from "../facts/facet.ts";
import type { Ref } from "../facts/refs.ts";
import { LIMITS } from "../limits.ts";

/** The body of `file.seen`, version 1. */
export interface SeenBody extends SeenFile {
  readonly path: string;
}

export class SeenFileSet {
  readonly #files = new RecentMap<string, SeenFile>(LIMITS.seenFiles);
  /** How often a message of the main context was replaced. */
  epoch = 0;

  use(path: string): SeenFile | undefined {
    return this.#files.use(path);
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  set(path: string, seen: SeenFile): void {
    this.#files.set(path, seen);
  }

  /** A fork has seen what its parent has. */
  adopt(parent: SeenFileSet): void {
    for (const [path, seen] of parent.#files.entries()) this.#files.set(path, seen);
    this.epoch = parent.epoch;
  }
}

/** The record of each file's last view, the least recently seen first. */
export const seenFacet: Facet<RecentMap<string, Ref>> = {
  init: () => new RecentMap(LIMITS.seenFiles),
  folds: {
    "file.seen": (now, { path }, { proc, seq }) => {
      now.set(String(path), { proc, seq });
      return now;
    },
  },
  pack: (now) => (now.size === 0 ? {} : { seen: [...now.entries()] }),
  unpack: ({ seen }) => filled((seen ?? []) as readonly [string, Ref][]),
  fork: (origin) => filled(origin.entries()),
};

function filled(entries: Iterable<readonly [string, Ref]>): RecentMap<string, Ref> {
  const seen = new RecentMap<string, Ref>(LIMITS.seenFiles);
  for (const [path, ref] of entries) seen.set(path, ref);
  return seen;
}
