/**
 * The debug channel of a process. `emit` never waits and never fails a call. The newest 256 events are kept by
 * reference for later readers; each reader has its own queue of 256 events, which drops and counts what it has no room
 * for.
 */
import type { SyscallEvent } from "../../abi/events.ts";
import { LateMap } from "../../lib/maps/late.ts";
import { LIMITS } from "../limits.ts";
import type { Subscription } from "../ports/subscription.ts";
import { Queue } from "../queue.ts";

export class DebugChannel {
  readonly #ring: SyscallEvent[] = [];
  #head = 0;
  readonly #readers = new LateMap<Queue<SyscallEvent>, { all: boolean }>();
  /** The process has ended: new readers get the kept events and then the end. */
  #ended = false;
  #closed = false;

  emit(event: SyscallEvent): void {
    if (this.#closed) return;
    if (this.#ring.length < LIMITS.traceEvents) this.#ring.push(event);
    else {
      this.#ring[this.#head] = event;
      this.#head = (this.#head + 1) % LIMITS.traceEvents;
    }
    for (const [queue, reader] of this.#readers) {
      if (reader.all || event.quiet !== true) queue.push(event);
    }
  }

  attach(reader: { all: boolean }): Subscription<SyscallEvent> {
    const queue: Queue<SyscallEvent> = new Queue({
      capacity: LIMITS.traceEvents,
      drop: "newest",
      losable: () => true,
      onClose: () => this.#readers.delete(queue),
    });
    for (const event of [...this.#ring.slice(this.#head), ...this.#ring.slice(0, this.#head)]) {
      if (reader.all || event.quiet !== true) queue.push(event);
    }
    if (this.#ended) queue.end();
    else this.#readers.set(queue, reader);
    return queue;
  }

  /** Ends all readers at the end of the process; the newest events are kept until it is reaped. */
  end(): void {
    this.#ended = true;
    for (const queue of this.#readers.keys()) queue.end();
    this.#readers.clear();
  }

  close(): void {
    this.end();
    this.#closed = true;
    this.#ring.length = 0;
  }
}
