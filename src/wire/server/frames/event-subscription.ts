/** Follows events: a position in their log. A slow client costs no memory; what it has not read stays in the journal. */
import { type IpcEvent, PACKET } from "../../../abi/ipc.ts";
import type { EventLog, EventPlace, KernelEvent } from "../../../kernel/ports/events.ts";
import { ABORTED, abortable } from "../../../lib/abort.ts";
import { packFrame } from "../../codec/msgpack.ts";
import type { FrameOutput } from "./stream-subscription.ts";

const MAX_CREDIT = 65_536;

interface EventWish {
  readonly name: string;
  readonly log: EventLog;
  readonly after: number;
  /** Events that may be sent before more are allowed; Infinity: as the client reads. */
  readonly window: number;
  readonly prefix: string;
  wants(event: KernelEvent): boolean;
  /** Resolves when what must come before this event was sent. */
  before(event: KernelEvent): Promise<void>;
}

export class EventSubscription {
  readonly #wish: EventWish;
  readonly #output: FrameOutput;
  readonly #stop = new AbortController();
  #credit: number;
  #place: EventPlace;
  #hold: PromiseWithResolvers<void> | undefined;
  /** Replaced at each step forward. */
  #step = Promise.withResolvers<void>();

  constructor(wish: EventWish, output: FrameOutput) {
    this.#wish = wish;
    this.#output = output;
    this.#credit = wish.window;
    this.#place = { seq: wish.after };
  }

  allow(events: number): void {
    this.#credit = Math.min(this.#credit + events, MAX_CREDIT);
    this.#hold?.resolve();
    this.#hold = undefined;
  }

  close(): void {
    this.#stop.abort(ABORTED);
    this.#hold?.resolve();
    this.#step.resolve();
  }

  /** Resolves when it has sent all events up to this one, or may send no more. */
  async caughtUp(seq: number): Promise<void> {
    while (this.#place.seq < seq && this.#hold === undefined && !this.#stop.signal.aborted)
      await this.#step.promise;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { log } = this.#wish;
    try {
      while (!this.#stop.signal.aborted) {
        const more = log.more();
        const { events, next } = await log.read(this.#place);
        for (const event of events) await this.#pass(event);
        const isNew = events.length > 0 || next.record !== this.#place.record;
        this.#place = next;
        this.#stepOn();
        if (!isNew) await abortable(more, this.#stop.signal);
      }
    } catch {
      // closed, or the journal cannot be read: the client subscribes again and is told
    } finally {
      this.close();
    }
  }

  async #pass(event: KernelEvent): Promise<void> {
    if (!this.#wish.wants(event)) return;
    while (this.#credit <= 0 && !this.#stop.signal.aborted) {
      this.#hold ??= Promise.withResolvers<void>();
      this.#stepOn();
      await this.#hold.promise;
    }
    await this.#wish.before(event);
    await this.#output.room();
    if (this.#stop.signal.aborted) return;
    this.#credit--;
    const { prefix, name: subscription } = this.#wish;
    const message: IpcEvent = { ...event, event: `${prefix}${event.event}`, subscription };
    this.#output.send(packFrame(PACKET.event, message));
    this.#place = { ...this.#place, seq: event.seq };
    this.#stepOn();
  }

  #stepOn(): void {
    this.#step.resolve();
    this.#step = Promise.withResolvers<void>();
  }
}
