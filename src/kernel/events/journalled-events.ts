/**
 * Events as records of the kernel's own history. The newest are kept in memory too; a reader that is further behind
 * reads them from the journal, so no queue grows for it. What was compacted is read no more: the journal, whose hashes
 * prove that nothing was taken out, keeps its records.
 */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import { LIMITS } from "../limits.ts";
import type { EventDraft, EventLog, EventPlace, KernelEvent, PublishedBy } from "../ports/events.ts";
import { type JournalRecord, KERNEL_UUID } from "../ports/journal.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { COMPACTED, Gaps } from "./gaps.ts";

const PAGE = 256;

type Read = Awaited<ReturnType<EventLog["read"]>>;
/** `record`: its number in the kernel's history. */
type Listener = (event: KernelEvent, record: number) => void;

export class JournalledEvents implements EventLog {
  readonly #ports: Pick<KernelPorts, "clock" | "journal">;
  /** The newest events, all of this daemon, by rising seq. */
  #recent: KernelEvent[] = [];
  /** Every event after this one is in `#recent`. Infinity: this daemon has published none yet. */
  #before = Infinity;
  #head = 0;
  #bytes = 0;
  #more = Promise.withResolvers<void>();
  readonly #gaps = new Gaps();
  readonly #listeners: Listener[] = [];
  /** By the mark of the request, the oldest first. */
  readonly #requested = new Map<string, PublishedBy>();
  #loaded: Promise<void> | undefined;

  constructor(ports: Pick<KernelPorts, "clock" | "journal">) {
    this.#ports = ports;
  }

  async head(): Promise<number> {
    await this.#load();
    return this.#head;
  }

  async floor(): Promise<number> {
    await this.#load();
    return this.#gaps.floor;
  }

  /** The newest event that is known; before `head` was asked, 0 for none of this daemon. */
  get newest(): number {
    return this.#head;
  }

  /** How much has been published since the last compaction, in bytes of JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Called for every event, in their order. */
  watch(listener: Listener): void {
    this.#listeners.push(listener);
  }

  async requested(id: string): Promise<PublishedBy | undefined> {
    await this.#load();
    const found = this.#requested.get(id);
    if (found === undefined) return undefined;
    const { clock } = this.#ports;
    // of what this daemon published, its own time decides first: the wall clock may have been set ahead since
    if (found.event.seq > this.#before && clock.mono() <= LIMITS.requestKeptMs) return found;
    return clock.now() - found.event.at > LIMITS.requestKeptMs ? undefined : found;
  }

  publish(draft: EventDraft): Promise<number> {
    return this.#append(draft, {});
  }

  /** These events are not read any more, except for `kept`. */
  async compacted(data: KernelEvent["data"], kept: readonly number[]): Promise<void> {
    await this.#append({ event: COMPACTED, data }, { kept });
    this.#bytes = 0;
  }

  async read(after: EventPlace, how?: "whole"): Promise<Read> {
    await this.#load();
    const read = await this.#read(after);
    return how === "whole" ? read : this.#gaps.thinned(after, read);
  }

  more(): Promise<void> {
    return this.#more.promise;
  }

  async #read(after: EventPlace): Promise<Read> {
    if (after.seq < this.#before) return this.#readOld(after);
    const from = firstAfter(this.#recent, after.seq);
    const events = this.#recent.slice(from, from + PAGE);
    return { events, next: { seq: events.at(-1)?.seq ?? after.seq } };
  }

  async #append(draft: EventDraft, more: object): Promise<number> {
    const at = Math.floor(this.#ports.clock.now());
    const body = { ...draft, at, ...more };
    const record = { proc: KERNEL_UUID, pid: PID_KERNEL, kind: "event", v: 1, body } as const;
    const [stored] = await this.#ports.journal.append([record]);
    const { lsn: seq = 0, seq: number = 0 } = stored ?? {};
    this.#bytes += JSON.stringify(body).length;
    this.#gaps.take(body, seq);
    const { request, ...told } = draft;
    const event = { ...told, seq, at };
    if (request !== undefined) this.#mark(request, event);
    this.#keep(event, number);
    return seq;
  }

  #mark({ id, digest }: RequestMark, event: KernelEvent): void {
    this.#requested.set(id, { digest, event });
    const [oldest = ""] = this.#requested.keys();
    if (this.#requested.size > LIMITS.requestsOfEvents) this.#requested.delete(oldest);
  }

  /** Answers of the journal come in the order of the records. */
  #keep(event: KernelEvent, record: number): void {
    if (this.#before === Infinity) this.#before = event.seq - 1;
    this.#recent.push(event);
    this.#head = event.seq;
    if (this.#recent.length > LIMITS.eventsInMemory) {
      this.#recent = this.#recent.slice(-LIMITS.eventsInMemory / 2);
      this.#before = (this.#recent[0]?.seq ?? this.#head) - 1;
    }
    for (const listener of this.#listeners) listener(event, record);
    this.#more.resolve();
    this.#more = Promise.withResolvers<void>();
  }

  /** Looks through what earlier daemons left, once. */
  #load(): Promise<void> {
    this.#loaded ??= this.#scan().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  async #scan(): Promise<void> {
    for (let record = 1; ; ) {
      const page = await this.#ports.journal.read(KERNEL_UUID, record, PAGE);
      for (const record of page) {
        if (record.kind !== "event") continue;
        this.#gaps.take(record.body, record.lsn);
        const { request } = record.body as EventDraft;
        if (request !== undefined) this.#mark(request, eventOf(record));
      }
      const last = page.at(-1);
      // what this daemon has published is newer, and taken already
      if (last === undefined) return;
      this.#head = Math.max(this.#head, last.lsn);
      record = last.seq + 1;
    }
  }

  async #readOld({ seq, record = 1 }: EventPlace): Promise<Read> {
    const page = await this.#ports.journal.read(KERNEL_UUID, record, PAGE);
    const last = page.at(-1);
    // nothing older is left: the rest is in memory
    if (last === undefined && this.#before === Infinity) return { events: [], next: { seq, record } };
    if (last === undefined) return this.#read({ seq: this.#before });
    const events = page
      .filter(({ kind, lsn }) => kind === "event" && lsn > seq && lsn <= this.#before)
      .map(eventOf);
    // what comes after `#before` is read from memory, where it is in order
    const place = Math.min(Math.max(seq, last.lsn), this.#before);
    return { events, next: { seq: place, record: last.seq + 1 } };
  }
}

function eventOf({ body, lsn }: JournalRecord): KernelEvent {
  const {
    kept: _kept,
    request: _request,
    ...event
  } = body as Omit<KernelEvent, "seq"> & {
    kept?: unknown;
    request?: unknown;
  };
  return { ...event, seq: lsn };
}

/** The place of the first event after this seq. */
function firstAfter(events: readonly KernelEvent[], seq: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.seq ?? 0) > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}
