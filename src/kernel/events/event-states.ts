/**
 * What the events amount to, now and at any earlier position. The present is kept at hand; every 10,000 events a copy is
 * kept, so that an earlier position costs a bounded replay.
 */
import { Fault } from "../../abi/errors.ts";
import { LIMITS } from "../limits.ts";
import type { EventPlace, KernelEvent } from "../ports/events.ts";
import type { JournalledEvents } from "./journalled-events.ts";
import { copyStates, emptyStates, fold, type States } from "./projections.ts";

interface Kept {
  readonly place: EventPlace;
  readonly states: States;
}

export class EventStates {
  readonly #log: JournalledEvents;
  readonly #kept: Kept[] = [];
  #now = emptyStates();
  #folded = 0;
  #ready: Promise<void> | undefined;

  constructor(log: JournalledEvents) {
    this.#log = log;
  }

  /** As of the newest event, once `ready` has resolved. */
  get now(): States {
    return this.#now;
  }

  ready(): Promise<void> {
    this.#ready ??= this.#load().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** NOT_FOUND: below the floor. INVALID: above the newest event. */
  async at(seq: number): Promise<States> {
    await this.ready();
    if (seq === this.#log.newest) return this.#now;
    const floor = await this.#log.floor();
    if (seq < floor - 1)
      throw new Fault({
        code: "NOT_FOUND",
        message: `params.at: ${seq} was compacted; the oldest position that is kept is ${floor}`,
        details: { floor },
      });
    if (seq > this.#log.newest)
      throw new Fault({
        code: "INVALID",
        message: `params.at: ${seq} is above the newest event, ${this.#log.newest}`,
      });
    const from = this.#kept.findLast(({ place }) => place.seq <= seq);
    const states = from === undefined ? emptyStates() : copyStates(from.states);
    await this.#pass(from?.place ?? { seq: 0 }, seq, (event) => void fold(states, event));
    return states;
  }

  /** Every event after a place, up to a seq. Resolves with the place behind them. */
  async #pass(after: EventPlace, upTo: number, act: (event: KernelEvent) => void): Promise<EventPlace> {
    for (let place = after; ; ) {
      const { events, next } = await this.#log.read(place, "whole");
      for (const event of events) if (event.seq <= upTo) act(event);
      const isNew = events.length > 0 || next.record !== place.record;
      place = next;
      if (!isNew || place.seq >= upTo) return place;
    }
  }

  async #load(): Promise<void> {
    const states = emptyStates();
    this.#kept.length = 0;
    let folded = 0;
    let place: EventPlace = { seq: 0 };
    const take = (event: KernelEvent): void => {
      fold(states, event);
      if (++folded % LIMITS.eventsOfSnapshot === 0) this.#keep({ seq: event.seq }, states);
    };
    await this.#log.head();
    do place = await this.#pass(place, Infinity, take);
    while (place.seq < this.#log.newest);
    // from here on each is taken as it comes: nothing has come since the last page
    this.#now = states;
    this.#folded = folded;
    this.#log.watch((event, record) => this.#take(event, record));
  }

  #take(event: KernelEvent, record: number): void {
    fold(this.#now, event);
    if (++this.#folded % LIMITS.eventsOfSnapshot === 0)
      this.#keep({ seq: event.seq, record: record + 1 }, this.#now);
  }

  #keep(place: EventPlace, states: States): void {
    this.#kept.push({ place, states: copyStates(states) });
    if (this.#kept.length > LIMITS.eventSnapshots) this.#kept.shift();
  }
}
