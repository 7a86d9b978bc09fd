/** Where events were compacted: what is left out of a reading, and the summary that comes in its place. */
import { createHash } from "node:crypto";
import type { Compacted, EventLog, EventPlace, KernelEvent } from "../ports/events.ts";

export const COMPACTED = "event.compacted";
/** Of more ranges the two oldest become one. */
const MAX_GAPS = 64;

interface Gap {
  readonly data: Compacted;
  readonly at: number;
  readonly kept: ReadonlySet<number>;
}

/** A place with the position from which its reader began. */
type Since = EventPlace & { readonly since?: number };
type Read = Awaited<ReturnType<EventLog["read"]>>;

export class Gaps {
  /** By rising position, never overlapping. */
  readonly #gaps: Gap[] = [];
  #seen = 0;

  get floor(): number {
    return (this.#gaps.at(-1)?.data.to ?? 0) + 1;
  }

  /** Looks at the body of an event; each is taken once, whoever reads it first. */
  take(body: unknown, seq: number): void {
    const { event, data, at, kept = [] } = body as KernelEvent & { readonly kept?: readonly number[] };
    if (event !== COMPACTED || seq <= this.#seen) return;
    this.#seen = seq;
    this.#gaps.push({ data: data as Compacted, at, kept: new Set(kept) });
    const [first, second] = this.#gaps;
    if (this.#gaps.length > MAX_GAPS && first !== undefined && second !== undefined)
      this.#gaps.splice(0, 2, joined(first, second));
  }

  /** The summary of a range comes once: in its place, or to those who began behind that when it is made. */
  thinned(after: Since, { events, next }: Read): Read {
    if (this.#gaps.length === 0) return { events, next };
    const { since = after.seq } = after;
    const own = events.filter(({ event, data, seq }) => {
      if (event === COMPACTED) return since >= (data as Compacted).to;
      return !this.#gaps.some((gap) => seq >= gap.data.from && seq <= gap.data.to && !gap.kept.has(seq));
    });
    const marks = this.#gaps
      .filter(({ data: { to } }) => since < to && after.seq < to && to <= next.seq)
      .map(({ data, at }): KernelEvent => ({ event: COMPACTED, seq: data.to, at, data }));
    const all = marks.length === 0 ? own : [...own, ...marks].sort((a, b) => a.seq - b.seq);
    return { events: all, next: { ...next, since } as Since };
  }
}

function joined(a: Gap, b: Gap): Gap {
  const counts: Record<string, number> = { ...a.data.counts };
  for (const [name, count] of Object.entries(b.data.counts)) counts[name] = (counts[name] ?? 0) + count;
  const digest = createHash("sha256").update(`${a.data.digest}${b.data.digest}`).digest("hex");
  const { to, last } = b.data;
  return { at: b.at, kept: new Set([...a.kept, ...b.kept]), data: { ...a.data, counts, to, last, digest } };
}
