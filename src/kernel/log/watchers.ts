/**
 * The clients that follow a process. Each has a bounded queue, in which only events that report progress may be
 * dropped; the end of a run and of the process never are, nor are the messages of the conversation: a client that
 * accepts nothing for 30 s is cut off, which bounds them. Pieces of a reply are joined when the queue is full.
 */
import type { Detail, ProcessEvent } from "../../abi/events.ts";
import { asPid } from "../../abi/ids.ts";
import { LateMap } from "../../lib/maps/late.ts";
import { LIMITS } from "../limits.ts";
import { Queue } from "../queue.ts";
import type { Approvers } from "./approvers.ts";
import { Coming, joinedDelta } from "./coming.ts";

const LOSABLE: ReadonlySet<ProcessEvent["event"]> = new Set([
  "step",
  "tool",
  "call",
  "output",
  "child",
  "said",
  "log",
  "api_retry",
  "llm.stall",
  "sched.waiting",
  // the conversation itself is in the journal
  "input",
  "queued",
  "withdrawn",
  "reply",
  "paused",
]);

/** Events that only a client gets which has asked for them. */
const NEEDS: { readonly [E in ProcessEvent["event"]]?: Detail } = {
  message: "messages",
  tool_result: "messages",
  output: "deltas",
  delta: "deltas",
  tombstone: "deltas",
};

/** After these, a reply that is not whole does not come. */
const VOIDING: ReadonlySet<ProcessEvent["event"]> = new Set([
  "api_retry",
  "model_switch",
  "idle",
  "error",
  "complete",
]);

/** A client that can answer the questions of its session. */
interface Approving {
  readonly approvers: Approvers;
  now(): number;
}

interface Watcher {
  readonly approving: Approving | undefined;
  readonly detail: Detail | undefined;
}

export class Watchers {
  readonly #queues = new LateMap<Queue<ProcessEvent>, Watcher>();
  #ended = false;
  /** The reply of which pieces were published, until it is there as a whole. */
  #previewed: string | undefined;
  /** For a client that comes meanwhile. */
  readonly #coming = new Coming();
  /** The last events of the process, for late watchers. */
  #last: readonly ProcessEvent[] = [];
  /** Called with every event, whoever watches. */
  onPublish: ((event: ProcessEvent) => void) | null = null;
  /** Called when the last watcher has left. */
  onEmpty: (() => void) | null = null;

  get count(): number {
    return this.#queues.size;
  }

  /** Whether there are watchers and the end is not published, so that a published event will be read. */
  get isHeard(): boolean {
    return !this.#ended && this.#queues.size > 0;
  }

  /** Whether any watcher follows that closely. */
  follows(detail: Detail): boolean {
    if (!this.isHeard) return false;
    for (const watcher of this.#queues.values()) if (isEnough(watcher.detail, detail)) return true;
    return false;
  }

  /** Events from now on, after what is under way now; for a process that has ended, its last events. */
  watch(approving?: Approving, detail?: Detail): Queue<ProcessEvent> {
    const queue: Queue<ProcessEvent> = new Queue({
      capacity: LIMITS.watchEvents,
      drop: "oldest",
      losable: (event) => LOSABLE.has(event.event),
      join: joined,
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
    this.#queues.set(queue, { approving, detail });
    if (this.#ended) return queue;
    for (const event of this.#coming.events(detail)) queue.push(event);
    if (detail === "deltas") this.#previewed ??= this.#coming.replyId;
    approving?.approvers.add(queue);
    return queue;
  }

  /** A part of the conversation, whether it is published or not. */
  keep(event: ProcessEvent): void {
    if (this.#ended) return;
    if (event.event === "delta" || event.event === "message" || event.event === "call")
      this.#coming.take(event);
    else if (VOIDING.has(event.event)) this.#coming.clear();
  }

  /** The reply that was under way is in the history, with the results of its calls. */
  settled(): void {
    this.#coming.clear();
  }

  publish(event: ProcessEvent): void {
    if (this.#ended) return;
    // kept by whoever may not publish them
    if (event.event !== "delta" && event.event !== "message") this.keep(event);
    this.onPublish?.(event);
    const gone = this.#goneWith(event);
    if (gone !== undefined) this.#push({ event: "tombstone", pid: asPid(event.pid), replyId: gone });
    this.#push(event);
    if (event.event === "error") this.#last = [event];
    if (event.event !== "complete") return;
    this.#last = [...this.#last, event];
    this.end();
  }

  #push(event: ProcessEvent): void {
    const needed = NEEDS[event.event];
    for (const [queue, { detail }] of this.#queues) if (isEnough(detail, needed)) queue.push(event);
  }

  /** The reply whose pieces are void with this event: another one comes in its place, or none does. */
  #goneWith(event: ProcessEvent): string | undefined {
    const before = this.#previewed;
    if (event.event === "message") this.#previewed = undefined;
    if (event.event === "delta") {
      if (event.piece.type !== "message_start") return undefined;
      this.#previewed = event.piece.message.id;
      return before;
    }
    if (!VOIDING.has(event.event)) return undefined;
    this.#previewed = undefined;
    return before;
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
    const approving = this.#queues.get(queue)?.approving;
    approving?.approvers.remove(queue, approving.now());
  }
}

function isEnough(has: Detail | undefined, needed: Detail | undefined): boolean {
  return needed === undefined || has === "deltas" || has === needed;
}

/** Two neighbouring pieces of one block as one: what a slow client gets then is coarser, but complete. Of output only the newest. */
function joined(last: ProcessEvent, next: ProcessEvent): ProcessEvent | undefined {
  if (last.event === "output" && next.event === "output")
    return last.call.tool === next.call.tool && last.call.about === next.call.about ? next : undefined;
  if (last.event !== "delta" || next.event !== "delta") return undefined;
  const [a, b] = [last.piece, next.piece];
  if (a.type !== "content_block_delta" || b.type !== "content_block_delta" || a.index !== b.index)
    return undefined;
  const delta = joinedDelta(a.delta, b.delta);
  return delta === undefined ? undefined : { ...next, piece: { ...b, delta } };
}
