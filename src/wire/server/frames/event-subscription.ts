/** Follows events: a position in their log. A slow client costs no memory; what it has not read stays in the journal. */
import { type IpcEvent, PACKET } from "../../../abi/ipc.ts";
import type { Clock } from "../../../abi/program.ts";
import type { EventLog, EventPlace, KernelEvent } from "../../../kernel/ports/events.ts";
import { ABORTED, abortable } from "../../../lib/abort.ts";
import { packFrame } from "../../codec/msgpack.ts";
import type { FrameOutput } from "./stream-subscription.ts";

const MAX_CREDIT = 65_536;
/** Events of which only the newest matters come no faster than this, of one process and name. */
const LATEST_MS = 100;
/** Processes and names of which the last time is known; then all are forgotten at once. */
const MAX_LATEST = 10_000;

interface EventWish {
  readonly name: string;
  readonly log: EventLog;
  readonly clock: Pick<Clock, "mono" | "sleep">;
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
  /** When the last event of a process and name was sent, for those of which only the newest matters. */
  readonly #sentAt = new Map<string, number>();
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
        if (!(await this.#passAll(events))) continue;
        const { seq, record } = this.#place;
        // a whole page may have been compacted: it is passed over, and more may follow
        const isNew = events.length > 0 || next.record !== record || next.seq !== seq;
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

  /** False: one came too soon after its like, and was waited for; what is newer by now takes its place. */
  async #passAll(events: readonly KernelEvent[]): Promise<boolean> {
    const newest = new Map<string, KernelEvent>();
    for (const event of events) if (event.retain === "latest") newest.set(keyOf(event), event);
    for (const event of events) {
      const isLatest = event.retain === "latest" && this.#wish.wants(event);
      const waitMs = isLatest ? this.#tooSoonMs(event) : 0;
      if (waitMs > 0 && newest.get(keyOf(event)) !== event) continue;
      if (waitMs > 0) {
        this.#place = { ...this.#place, seq: event.seq - 1 };
        await this.#wish.clock.sleep(waitMs, this.#stop.signal);
        return false;
      }
      await this.#pass(event);
    }
    return true;
  }

  #tooSoonMs(event: KernelEvent): number {
    const now = this.#wish.clock.mono();
    const waitMs = (this.#sentAt.get(keyOf(event)) ?? -Infinity) + LATEST_MS - now;
    if (waitMs > 0) return waitMs;
    if (this.#sentAt.size >= MAX_LATEST) this.#sentAt.clear();
    this.#sentAt.set(keyOf(event), now);
    return 0;
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
    const { retain: _retain, ...told } = event;
    const message: IpcEvent = { ...told, event: `${prefix}${event.event}`, subscription };
    this.#output.send(packFrame(PACKET.event, message));
    this.#place = { ...this.#place, seq: event.seq };
    this.#stepOn();
  }

  #stepOn(): void {
    this.#step.resolve();
    this.#step = Promise.withResolvers<void>();
  }
}

function keyOf({ pid = 0, event }: KernelEvent): string {
  return `${pid} ${event}`;
}
