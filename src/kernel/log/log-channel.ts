/**
 * The log of a process, line by line: steps, tools, notices. The newest 256 lines are kept for later readers; each
 * reader has its own queue of 256 lines, which drops and counts what it has no room for.
 */
import type { LogEntry } from "../../abi/events.ts";
import { LateSet } from "../../lib/maps/late.ts";
import { LIMITS } from "../limits.ts";
import type { Subscription } from "../ports/subscription.ts";
import { Queue } from "../queue.ts";

export class LogChannel {
  readonly #kept: LogEntry[] = [];
  readonly #readers = new LateSet<Queue<LogEntry>>();
  #ended = false;

  /** The newest lines, oldest first. */
  get kept(): readonly LogEntry[] {
    return this.#kept;
  }

  /** Replaces the kept lines with those of earlier daemons, followed by those logged since. */
  remember(entries: readonly LogEntry[]): void {
    this.#kept.splice(0, this.#kept.length, ...entries.slice(-LIMITS.logEntries));
  }

  emit(entry: LogEntry): void {
    if (this.#ended) return;
    this.#kept.push(entry);
    if (this.#kept.length > LIMITS.logEntries) this.#kept.shift();
    for (const queue of this.#readers) queue.push(entry);
  }

  /** The newest `tail` lines; with `follow`, then new lines until the process ends. */
  attach({ tail, follow }: { tail: number; follow: boolean }): Subscription<LogEntry> {
    const queue: Queue<LogEntry> = new Queue({
      capacity: LIMITS.logEntries,
      drop: "newest",
      losable: () => true,
      onClose: () => this.#readers.delete(queue),
    });
    for (const entry of tail === 0 ? [] : this.#kept.slice(-tail)) queue.push(entry);
    if (this.#ended || !follow) queue.end();
    else this.#readers.add(queue);
    return queue;
  }

  /** Ends all readers at the end of the process, before it is reaped. */
  end(): void {
    this.#ended = true;
    for (const queue of this.#readers) queue.end();
    this.#readers.clear();
  }
}
