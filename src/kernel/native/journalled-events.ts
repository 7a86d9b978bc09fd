/**
 * Events as records of the kernel's own history. The newest are kept in memory too; a reader that is further behind
 * reads them from the journal, so no queue grows for it.
 */
import { PID_KERNEL } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import type { EventDraft, EventLog, EventPlace, KernelEvent } from "../ports/events.ts";
import { KERNEL_UUID } from "../ports/journal.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";

const PAGE = 256;

type Read = Awaited<ReturnType<EventLog["read"]>>;

export class JournalledEvents implements EventLog {
  readonly #ports: Pick<KernelPorts, "clock" | "journal">;
  /** The newest events, all of this daemon, by rising seq. */
  #recent: KernelEvent[] = [];
  /** Every event after this one is in `#recent`. Infinity: this daemon has published none yet. */
  #before = Infinity;
  /** 0: not known yet. */
  #head = 0;
  #more = Promise.withResolvers<void>();

  constructor(ports: Pick<KernelPorts, "clock" | "journal">) {
    this.#ports = ports;
  }

  async head(): Promise<number> {
    let [newest, record] = [0, 1];
    while (this.#head === 0) {
      const last = (await this.#ports.journal.read(KERNEL_UUID, record, PAGE)).at(-1);
      if (last === undefined) break;
      newest = last.lsn;
      record = last.seq + 1;
    }
    this.#head = Math.max(this.#head, newest);
    return this.#head;
  }

  async publish(draft: EventDraft): Promise<number> {
    const at = Math.floor(this.#ports.clock.now());
    const record = {
      proc: KERNEL_UUID,
      pid: PID_KERNEL,
      kind: "event",
      v: 1,
      body: { ...draft, at },
    } as const;
    const [stored] = await this.#ports.journal.append([record]);
    const seq = stored?.lsn ?? 0;
    this.#keep({ ...draft, seq, at });
    return seq;
  }

  async read(after: EventPlace): Promise<Read> {
    if (after.seq < this.#before) return this.#readOld(after);
    const from = this.#recent.findIndex(({ seq }) => seq > after.seq);
    const events = from < 0 ? [] : this.#recent.slice(from, from + PAGE);
    return { events, next: { seq: events.at(-1)?.seq ?? after.seq } };
  }

  more(): Promise<void> {
    return this.#more.promise;
  }

  /** Answers of the journal come in the order of the records. */
  #keep(event: KernelEvent): void {
    if (this.#before === Infinity) this.#before = event.seq - 1;
    this.#recent.push(event);
    this.#head = event.seq;
    if (this.#recent.length > LIMITS.eventsInMemory) {
      this.#recent = this.#recent.slice(-LIMITS.eventsInMemory / 2);
      this.#before = (this.#recent[0]?.seq ?? this.#head) - 1;
    }
    this.#more.resolve();
    this.#more = Promise.withResolvers<void>();
  }

  async #readOld({ seq, record = 1 }: EventPlace): Promise<Read> {
    const page = await this.#ports.journal.read(KERNEL_UUID, record, PAGE);
    const last = page.at(-1);
    // nothing older is left: the rest is in memory
    if (last === undefined && this.#before === Infinity) return { events: [], next: { seq, record } };
    if (last === undefined) return this.read({ seq: this.#before });
    const events = page
      .filter(({ kind, lsn }) => kind === "event" && lsn > seq && lsn <= this.#before)
      .map(({ body, lsn }) => ({ ...(body as Omit<KernelEvent, "seq">), seq: lsn }));
    // what comes after `#before` is read from memory, where it is in order
    const place = Math.min(Math.max(seq, last.lsn), this.#before);
    return { events, next: { seq: place, record: last.seq + 1 } };
  }
}
