/**
 * Spools on disk: `<dir>/<name>.<n>`, segments of 32 MiB or less, of which the last 64 MiB are kept. A spool that has ended uses
 * no fd; it is kept for 24 h. Those of at most 1,000 programs (the name up to its last dot) of each owner and of 4,000 in
 * total, with 4 GiB, are kept; beyond, the oldest of the owner that keeps the most is removed. `<name>@<owner>.<n>` says
 * whose it is.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type {
  KeptSpool,
  OnFull,
  Spool,
  SpoolOptions,
  SpoolReader,
  SpoolStore,
  Unfinished,
} from "../../kernel/ports/spools.ts";
import { DiskSpool, NOTE, type Segment } from "./disk-spool.ts";
import { countedBytes, SEGMENT_NAME } from "./segment-file.ts";
import { SegmentReader, type SegmentSource } from "./segment-reader.ts";
import { type Owned, type ShareLimits, Shares } from "./shares.ts";

export interface SpoolLimits extends ShareLimits {
  readonly segmentBytes: number;
  readonly keptMs: number;
  /** Between two tries of a disk that takes no more, for a writer that waits. */
  aWhile(): Promise<void>;
}

const defaultLimits: SpoolLimits = {
  segmentBytes: 32 * 1024 * 1024,
  keptMs: 24 * 3600 * 1000,
  aWhile: () => new Promise((resolve) => setTimeout(resolve, 500)),
  keptPrograms: 1_000,
  keptProgramsInAll: 4_000,
  keptBytes: 4 * 1024 ** 3,
};

/** A spool that has ended. */
interface Kept extends Owned {
  readonly segments: readonly Segment[];
  /** Wall clock, ms. */
  readonly endedAt: number;
}

export class DiskSpools implements SpoolStore {
  readonly #dir: string;
  readonly #limits: SpoolLimits;
  readonly #now: () => number;
  readonly #live = new Map<string, DiskSpool>();
  /** Ended spools, oldest first. Read from the folder on first use. */
  #ended: Map<string, Kept> | undefined;
  readonly #shares = new Shares();

  /** Creates `dir`, accessible to the user only. `now`: the wall clock, because files outlive the daemon. */
  constructor(dir: string, now: () => number = Date.now, limits: SpoolLimits = defaultLimits) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#dir = dir;
    this.#now = now;
    this.#limits = limits;
  }

  /** Creates a spool; it replaces an ended one of the same name. */
  open(name: string, onFull: OnFull, { maxBytes, owner = "" }: SpoolOptions = {}): Spool {
    if (!/^[A-Za-z0-9-]{0,64}$/.test(owner)) throw new Error(`not an owner of a spool: ${owner}`);
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) throw new Error(`not a name for a spool: ${name}`);
    if (this.#live.has(name)) throw new Error(`spool is in use: ${name}`);
    this.#forget(name);
    const spool = new DiskSpool({
      place: join(this.#dir, owner === "" ? name : `${name}@${owner}`),
      onFull,
      aWhile: this.#limits.aWhile,
      halfBytes: Math.max(1, Math.floor((maxBytes ?? 2 * this.#limits.segmentBytes) / 2)),
      onEnd: (segments) => this.#keep(name, owner, segments),
      onRemove: (segments) => {
        // a new spool may have this name by now
        if (this.#known().get(name)?.segments === segments) this.#forget(name);
      },
    });
    this.#live.set(name, spool);
    return spool;
  }

  find(name: string): SpoolReader | undefined {
    const live = this.#live.get(name);
    if (live !== undefined) return live.reader(0);
    this.#expire();
    const kept = this.#known().get(name);
    return kept === undefined ? undefined : new SegmentReader(endedSource(kept), 0);
  }

  past(name: string, written = 0): KeptSpool | undefined {
    this.#expire();
    const kept = this.#known().get(name);
    const oldest = kept && oldestOf(kept, written);
    if (kept === undefined || oldest === undefined) return undefined;
    const source = endedSource(kept, oldest);
    return { bytes: source.bytes, reader: (from) => new SegmentReader(source, from) };
  }

  unfinished(): readonly Unfinished[] {
    return readdirSync(this.#dir)
      .filter((file) => file.endsWith(NOTE))
      .map((file) => {
        const place = join(this.#dir, file.slice(0, -NOTE.length));
        const [name = ""] = file.slice(0, -NOTE.length).split("@");
        const finish = (rest: Uint8Array): void => this.#finish(name, place, rest);
        return { name, note: readFileSync(place + NOTE, "utf8"), finish };
      });
  }

  /** What is added has a segment of its own. */
  #finish(name: string, place: string, rest: Uint8Array): void {
    const kept = this.#known().get(name);
    const last = SEGMENT_NAME.exec(kept?.segments.at(-1)?.path ?? "")?.[2];
    if (kept !== undefined && last !== undefined && rest.byteLength > 0) {
      const path = `${place}.${Number(last) + 1}`;
      writeFileSync(path, rest, { mode: 0o600 });
      const segments = [...kept.segments, { path, bytes: rest.byteLength }];
      this.#shares.remove(name, kept);
      const whole = { ...kept, segments, bytes: bytesOf(segments) };
      this.#known().set(name, whole);
      this.#shares.add(name, whole);
    }
    rmSync(place + NOTE, { force: true });
  }

  #keep(name: string, owner: string, segments: readonly Segment[]): void {
    this.#live.delete(name);
    if (segments.length === 0) return;
    const kept = { owner, segments, bytes: bytesOf(segments), endedAt: this.#now() };
    this.#known().set(name, kept);
    this.#shares.add(name, kept);
    this.#expire();
  }

  #known(): Map<string, Kept> {
    if (this.#ended !== undefined) return this.#ended;
    this.#ended = listKept(this.#dir, new Set(this.#live.keys()));
    for (const [name, kept] of this.#ended) this.#shares.add(name, kept);
    return this.#ended;
  }

  #forget(name: string): void {
    const kept = this.#known().get(name);
    if (kept === undefined) return;
    for (const { path } of kept.segments) removeIfCan(path);
    this.#known().delete(name);
    this.#shares.remove(name, kept);
  }

  #expire(): void {
    const oldest = this.#now() - this.#limits.keptMs;
    for (const [name, { endedAt }] of this.#known()) {
      if (endedAt >= oldest) break;
      this.#forget(name);
    }
    for (;;) {
      const name = this.#shares.over(this.#limits);
      if (name === undefined) return;
      this.#forget(name);
    }
  }
}

/** A file that cannot be removed (read-only disk) must not fail a lookup. */
function removeIfCan(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // retried the next time, or by the next daemon
  }
}

/** The position of the first byte that is left; undefined: it was not the first, and nothing tells the size of segments. */
function oldestOf(kept: Kept, written: number): number | undefined {
  const [first, second] = kept.segments;
  const before = Number(SEGMENT_NAME.exec(first?.path ?? "")?.[2] ?? 0);
  const left = kept.bytes;
  if (before === 0) return 0;
  if (written >= left) return written - left;
  // all but the last are full
  return first === undefined || second === undefined ? undefined : before * first.bytes;
}

function endedSource(kept: Kept, oldest = 0): SegmentSource {
  const bytes = oldest + kept.bytes;
  return {
    bytes,
    oldest,
    isEnded: true,
    locate(position) {
      let offset = position - oldest;
      for (const segment of kept.segments) {
        if (offset < segment.bytes) return { path: segment.path, offset, left: segment.bytes - offset };
        offset -= segment.bytes;
      }
      throw new Error(`beyond the end: ${position}`);
    },
    more: async () => {},
    onRead: () => {},
    onClose: () => {},
  };
}

function bytesOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The spools that earlier daemons left, and those that have ended since. */
function listKept(dir: string, live: ReadonlySet<string>): Map<string, Kept> {
  const found = new Map<string, (Segment & { segment: number; endedAt: number })[]>();
  const owners = new Map<string, string>();
  for (const file of readdirSync(dir)) {
    const [, place = "", segment, isUsedAgain] = SEGMENT_NAME.exec(file) ?? [];
    const [name = "", owner = ""] = place.split("@");
    const path = join(dir, file);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (segment === undefined || live.has(name) || stats === undefined) continue;
    const segments = found.get(name) ?? [];
    segments.push({
      path,
      segment: Number(segment),
      bytes: isUsedAgain === "" ? stats.size : countedBytes(path, stats.size),
      endedAt: stats.mtimeMs,
    });
    found.set(name, segments);
    owners.set(name, owner);
  }
  const kept = [...found].map(([name, segments]) => {
    const endedAt = Math.max(...segments.map((each) => each.endedAt));
    segments.sort((a, b) => a.segment - b.segment);
    const owned = { owner: owners.get(name) ?? "", bytes: bytesOf(segments) };
    return [name, { ...owned, segments, endedAt }] as const;
  });
  return new Map(kept.sort(([, a], [, b]) => a.endedAt - b.endedAt));
}
