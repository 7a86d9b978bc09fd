/**
 * The processes that belong to a started program: its process group, every process that inherited its mark in the
 * environment (`setsid` leaves the group, not the environment), and the descendants of these.
 */
import { findProcess, hasProcfs, lastPid, listPids, type OsProcess, readEnviron } from "./procfs.ts";

/** Pids wrap around after 32,768 at the earliest; within this time nothing starts that many processes. */
const pidsOnlyRiseMs = 2_000;
/** Up to this many pids are checked one by one instead of being picked from a list of all. */
const fewPids = 64;

export class Family {
  readonly #leader: number;
  readonly #mark: string;
  readonly #bornAtMs: number;
  /**
   * Members seen earlier, by pid: they stay ours even if their parent has ended and they have neither the group nor
   * the mark.
   */
  readonly #known = new Map<number, OsProcess>();

  /**
   * `mark`: `NAME=value`, unique to the family. `bornAtMs`: not after the start of its first member, on the monotonic
   * clock.
   */
  constructor(leader: number, mark: string, bornAtMs = performance.now()) {
    this.#leader = leader;
    this.#bornAtMs = bornAtMs;
    this.#mark = `\0${mark}\0`;
  }

  /** Remembers the current members. */
  learn(): void {
    for (const member of this.#scan(listPids())) this.#known.set(member.pid, member);
  }

  /** The pids of the living members, including the leader. */
  members(): number[] {
    if (!hasProcfs) return groupLives(this.#leader) ? [-this.#leader] : [];
    const found = new Set(this.#scan(this.#candidates()).map(({ pid }) => pid));
    for (const { pid, startTicks } of this.#known.values())
      if (findProcess(pid)?.startTicks === startTicks) found.add(pid);
    return [...found];
  }

  /**
   * Reading all of /proc takes milliseconds, so for a short run only the pids assigned since its start are checked;
   * if none was, that is the leader alone.
   */
  #candidates(): number[] {
    const first = this.#leader;
    const last = lastPid();
    const isShort = performance.now() - this.#bornAtMs < pidsOnlyRiseMs;
    if (!isShort || last < first) return listPids();
    if (last - first > fewPids) return listPids().filter((pid) => pid >= first && pid <= last);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  }

  #scan(candidates: readonly number[]): OsProcess[] {
    const living = candidates.filter((pid) => pid !== process.pid).flatMap((pid) => findProcess(pid) ?? []);
    const isMarked = (p: OsProcess) => p.group === this.#leader || readEnviron(p.pid).includes(this.#mark);
    return withDescendants(living.filter(isMarked), living);
  }
}

function withDescendants(heads: readonly OsProcess[], living: readonly OsProcess[]): OsProcess[] {
  const family = new Map(heads.map((head) => [head.pid, head]));
  for (let sizeBefore = -1; family.size > sizeBefore; ) {
    sizeBefore = family.size;
    for (const p of living) if (family.has(p.ppid)) family.set(p.pid, p);
  }
  return [...family.values()];
}

function groupLives(leader: number): boolean {
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}
