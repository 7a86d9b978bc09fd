/** Compaction of the events (kernel IPC chapter, 7.6): one summary in the place of a range. */
import { createHash } from "node:crypto";
import { LIMITS } from "../limits.ts";
import type { Compacted, Compaction, EventPlace, KernelEvent } from "../ports/events.ts";
import { COMPACTED } from "./gaps.ts";
import type { JournalledEvents } from "./journalled-events.ts";

/** From the floor on, as long as events are old. Those that stay are read as before. */
export async function compact(
  log: JournalledEvents,
  isOld: (event: KernelEvent) => boolean,
  stays: (event: KernelEvent) => boolean,
): Promise<Compaction> {
  const floor = await log.floor();
  const range = new Range();
  let place: EventPlace = { seq: floor - 1 };
  for (;;) {
    const { events, next } = await log.read(place, "whole");
    for (const event of events) {
      if (!isOld(event) || range.kept.length >= LIMITS.eventsKept) return range.close(log, floor);
      if (event.event === COMPACTED) continue;
      if (stays(event)) range.kept.push(event.seq);
      else range.remove(event);
    }
    if (events.length === 0 && next.record === place.record) return range.close(log, floor);
    place = next;
  }
}

class Range {
  readonly kept: number[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #hash = createHash("sha256");
  #first: KernelEvent | undefined;
  #last: KernelEvent | undefined;
  #removed = 0;

  remove(event: KernelEvent): void {
    this.#first ??= event;
    this.#last = event;
    this.#removed++;
    this.#counts[event.event] = (this.#counts[event.event] ?? 0) + 1;
    this.#hash.update(`${JSON.stringify(event)}\n`);
  }

  async close(log: JournalledEvents, floor: number): Promise<Compaction> {
    if (this.#first === undefined || this.#last === undefined)
      return { from: floor, to: floor - 1, removed: 0, kept: this.kept.length };
    const [from, to] = [this.#first.seq, this.#last.seq];
    const kept = this.kept.filter((seq) => seq > from && seq < to);
    const data: Compacted = {
      from,
      to,
      counts: this.#counts,
      first: this.#first.at,
      last: this.#last.at,
      digest: this.#hash.digest("hex"),
    };
    await log.compacted(data, kept);
    return { from, to, removed: this.#removed, kept: kept.length };
  }
}
