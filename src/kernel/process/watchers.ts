/** The clients that follow a process. Each has a bounded queue; steps, tool and log lines are lost first, the end never. */
import type { ProcessEvent } from "../../abi/events.ts";
import { LIMITS } from "../limits.ts";
import type { Subscription } from "../ports/kernel-api.ts";
import { Queue } from "../queue.ts";

const LOSABLE: ReadonlySet<ProcessEvent["event"]> = new Set(["step", "tool", "log"]);

export class Watchers {
  readonly #queues = new Set<Queue<ProcessEvent>>();
  #ended = false;
  /** Called when the last watcher has gone. */
  onEmpty: (() => void) | null = null;

  get count(): number {
    return this.#queues.size;
  }

  /** Somebody is there, and the end has not been told: what is published now will be read. */
  get isHeard(): boolean {
    return !this.#ended && this.#queues.size > 0;
  }

  watch(): Subscription<ProcessEvent> {
    const queue: Queue<ProcessEvent> = new Queue({
      capacity: LIMITS.watchEvents,
      drop: "oldest",
      losable: (event) => LOSABLE.has(event.event),
      onClose: () => {
        this.#queues.delete(queue);
        if (this.#queues.size === 0) this.onEmpty?.();
      },
    });
    if (this.#ended) queue.end();
    this.#queues.add(queue);
    return queue;
  }

  publish(event: ProcessEvent): void {
    for (const queue of this.#queues) queue.push(event);
    if (event.event === "complete") this.end();
  }

  /** Nothing more will come: the process has ended, or rests until the next daemon. */
  end(): void {
    this.#ended = true;
    for (const queue of this.#queues) queue.end();
  }
}
