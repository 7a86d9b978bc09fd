/**
 * Passes the events of a project to each client that follows it, through a separate queue, and keeps the last lines of
 * its children for later requests. A slow client loses the oldest events that may be lost, but never the end, nor those
 * it waits for.
 */
import type { ProjectEvent } from "../../abi/compose/compose.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import { Queue } from "../../kernel/queue.ts";

/** The newest of these is the first event for a client that rejoins: the present state of the project. */
const MILESTONES: ReadonlySet<ProjectEvent["event"]> = new Set(["up", "done", "failed", "stopped"]);

/** Events that are never dropped. They occur once per `up` or once per project, so the queues stay bounded. */
const KEPT: ReadonlySet<ProjectEvent["event"]> = new Set([
  "starting",
  "up",
  "skipped",
  "done",
  "failed",
  "stopped",
]);

export interface LogChoice {
  /** The children to show; undefined: all. */
  readonly children: ReadonlySet<string> | undefined;
  /** The number of past lines per child. */
  readonly tail: number;
  readonly follow: boolean;
}

export class ProjectFeed {
  readonly #watchers = new Set<Queue<ProjectEvent>>();
  readonly #followers = new Map<Queue<ProjectEvent>, LogChoice["children"]>();
  readonly #kept = new Map<string, LineRing>();
  #seq = 0;
  #isEnded = false;
  #milestone: ProjectEvent | null = null;

  publish(event: ProjectEvent): void {
    if (MILESTONES.has(event.event)) this.#milestone = event;
    if (event.event === "log") this.#log(event);
    for (const queue of this.#watchers) queue.push(event);
  }

  /** The events from now on. */
  watch(): Subscription<ProjectEvent> {
    return this.#watch(null);
  }

  /** The newest milestone (`up` or the end), then the events from now on. */
  rejoin(): Subscription<ProjectEvent> {
    return this.#watch(this.#milestone);
  }

  #watch(first: ProjectEvent | null): Subscription<ProjectEvent> {
    const queue: Queue<ProjectEvent> = queueOf(LIMITS.projectEvents, () => this.#watchers.delete(queue));
    if (first !== null) queue.push(first);
    if (this.#isEnded) queue.end();
    else this.#watchers.add(queue);
    return queue;
  }

  logs({ children, tail, follow }: LogChoice): Subscription<ProjectEvent> {
    const past = [...this.#kept]
      .filter(([child]) => children?.has(child) ?? true)
      .flatMap(([child, ring]) => ring.newest(tail).map((line) => ({ child, ...line })))
      .sort((a, b) => a.seq - b.seq);
    const capacity = LIMITS.projectEvents + past.length;
    const queue: Queue<ProjectEvent> = queueOf(capacity, () => this.#followers.delete(queue));
    for (const { child, text } of past) queue.push({ event: "log", child, text });
    if (this.#isEnded || !follow) queue.end();
    else this.#followers.set(queue, children);
    return queue;
  }

  /** Ends all queues. From now on fewer of the last lines are kept. */
  end(): void {
    this.#isEnded = true;
    for (const queue of [...this.#watchers, ...this.#followers.keys()]) queue.end();
    this.#watchers.clear();
    this.#followers.clear();
    this.#shrink();
  }

  #log(event: Extract<ProjectEvent, { event: "log" }>): void {
    const { child, text } = event;
    const ring = this.#kept.get(child) ?? new LineRing(LIMITS.projectLines, LIMITS.projectLineChars);
    this.#kept.set(child, ring);
    ring.push({ seq: ++this.#seq, text });
    for (const [queue, children] of this.#followers) if (children?.has(child) ?? true) queue.push(event);
  }

  /** Cuts the lines of each child to an equal share. */
  #shrink(): void {
    const share = Math.floor(LIMITS.endedLineChars / Math.max(1, this.#kept.size));
    for (const ring of this.#kept.values()) ring.shrink(share);
  }
}

function queueOf(capacity: number, onClose: () => void): Queue<ProjectEvent> {
  return new Queue({ capacity, drop: "oldest", losable: ({ event }) => !KEPT.has(event), onClose });
}

interface KeptLine {
  /** Order among all children of the project. */
  readonly seq: number;
  readonly text: string;
}

/** The newest lines of one child, bounded in number and in characters; the oldest are dropped. */
class LineRing {
  readonly #maxLines: number;
  readonly #maxChars: number;
  readonly #lines: KeptLine[] = [];
  #chars = 0;

  constructor(maxLines: number, maxChars: number) {
    this.#maxLines = maxLines;
    this.#maxChars = maxChars;
  }

  push(line: KeptLine): void {
    this.#lines.push(line);
    this.#chars += line.text.length;
    if (this.#lines.length > this.#maxLines) this.#drop();
    this.shrink(this.#maxChars);
  }

  /** Drops the oldest lines until at most `maxChars` remain. */
  shrink(maxChars: number): void {
    while (this.#chars > maxChars) this.#drop();
  }

  newest(count: number): readonly KeptLine[] {
    return count === 0 ? [] : this.#lines.slice(-count);
  }

  #drop(): void {
    this.#chars -= this.#lines.shift()?.text.length ?? 0;
  }
}
