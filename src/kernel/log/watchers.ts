/**
 * The clients that follow a process. Each has a bounded queue, in which only events that report progress may be
 * dropped; the end of a run and of the process never are.
 */
import type { ProcessEvent } from "../../abi/events.ts";
import { LIMITS } from "../limits.ts";
import { Queue } from "../queue.ts";
import type { Approvers } from "./approvers.ts";

const LOSABLE: ReadonlySet<ProcessEvent["event"]> = new Set([
  "step",
  "tool",
  "call",
  "said",
  "log",
  // the conversation itself is in the journal
  "input",
  "queued",
  "withdrawn",
  "reply",
  "paused",
]);

/** A client that can answer the questions of its session. */
interface Approving {
  readonly approvers: Approvers;
  now(): number;
}

export class Watchers {
  readonly #queues = new Map<Queue<ProcessEvent>, Approving | undefined>();
  #ended = false;
  /** The last events of the process, for late watchers. */
  #last: readonly ProcessEvent[] = [];
  /** Called when the last watcher has left. */
  onEmpty: (() => void) | null = null;

  get count(): number {
    return this.#queues.size;
  }

  /** Whether there are watchers and the end is not published, so that a published event will be read. */
  get isHeard(): boolean {
    return !this.#ended && this.#queues.size > 0;
  }

  /** Events from now on; for a process that has ended, its last events. */
  watch(approving?: Approving): Queue<ProcessEvent> {
    const queue: Queue<ProcessEvent> = new Queue({
      capacity: LIMITS.watchEvents,
      drop: "oldest",
      losable: (event) => LOSABLE.has(event.event),
      onClose: () => {
        this.#leave(queue);
        this.#queues.delete(queue);
        if (this.#queues.size === 0) this.onEmpty?.();
      },
    });
    if (this.#ended) {
      for (const event of this.#last) queue.push(event);
      queue.end();
    }
    this.#queues.set(queue, approving);
    if (!this.#ended) approving?.approvers.add(queue);
    return queue;
  }

  publish(event: ProcessEvent): void {
    if (this.#ended) return;
    for (const queue of this.#queues.keys()) queue.push(event);
    if (event.event === "error") this.#last = [event];
    if (event.event !== "complete") return;
    this.#last = [...this.#last, event];
    this.end();
  }

  /** No more events will come: the process has ended, or rests. */
  end(): void {
    this.#ended = true;
    for (const queue of this.#queues.keys()) {
      queue.end();
      this.#leave(queue);
    }
  }

  /** The client gets no more questions. */
  #leave(queue: Queue<ProcessEvent>): void {
    const approving = this.#queues.get(queue);
    approving?.approvers.remove(queue, approving.now());
  }
}
