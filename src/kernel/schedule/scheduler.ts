/**
 * The lanes of all devices that others limit: who waits in them, and the slots that are held. A slot is held for one
 * attempt, from its grant until its end or the end of its process, whichever comes first. Waiting holds nothing.
 */
import type {
  LaneQueue,
  LaneReadings,
  LaneReport,
  LaneRequest,
  LaneView,
  LaneWait,
} from "../../abi/lanes.ts";
import type { Clock } from "../../abi/program.ts";
import { ABORTED, reasonOf } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";
import { decide, nextOf } from "./decide.ts";
import { type Consumed, type Granted, Lane } from "./lane.ts";
import { rankOf, type Ticket } from "./ticket.ts";
import type { Claimant } from "./virtual-time.ts";

/** Who waits for a slot; class and weights may change while it waits. */
export interface Applicant extends Claimant, Pick<Ticket, "class"> {
  /** Fires at the end of its process. */
  readonly ended: AbortSignal;
  /** The identity of the process, for the place of a refused attempt. */
  readonly owner: object;
  /** Called if it is not granted at once. */
  readonly waits?: () => void;
}

/** The lane is full, or closed for longer than anybody waits. */
export interface LaneRefusal {
  readonly kind: "full" | "closed";
  readonly error?: Error;
}

type Refused = Parameters<LaneReport["refused"]>[0];

interface Waiting {
  readonly ticket: Ticket;
  readonly who: Applicant;
  readonly granted: (slot: Slot | LaneRefusal) => void;
}

export class Scheduler {
  readonly #clock: Clock;
  readonly #lanes = new Map<string, RunQueue>();
  /** Since when a refused attempt had waited: it comes again at its old place. */
  readonly #places = new WeakMap<object, KeptPlace>();
  #order = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for a slot. Rejects with the signal's reason. */
  async take(request: LaneRequest, who: Applicant, signal: AbortSignal): Promise<Slot | LaneRefusal> {
    if (signal.aborted) throw reasonOf(signal);
    const queue = this.#runQueueOf(request);
    if (queue.size >= LIMITS.laneWaiting) return { kind: "full" };
    const ticket = this.#ticketOf(request, who, queue);
    const { promise, resolve, reject } = Promise.withResolvers<Slot | LaneRefusal>();
    const waiting = { ticket, who, granted: resolve };
    const leave = (): void => {
      queue.leave(waiting);
      reject(reasonOf(signal));
    };
    signal.addEventListener("abort", leave, { once: true });
    queue.enter(waiting);
    if (queue.holds(ticket)) who.waits?.();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** The lanes whose names begin so, and who waits in them, in the order of grants as it is now. */
  view(beginning: string): readonly LaneQueue[] {
    const queues = [...this.#lanes.values()].filter(({ name }) => name.startsWith(beginning));
    return queues.map((queue) => ({ lane: queue.view(), waiting: queue.waits() }));
  }

  #ticketOf({ input, output }: LaneRequest, who: Applicant, queue: RunQueue): Ticket {
    const kept = this.#places.get(who.owner);
    const now = this.#clock.mono();
    const isBack = kept?.queue === queue && now - kept.atMs <= LIMITS.laneClosedMs;
    if (isBack) this.#places.delete(who.owner);
    const { session, process } = who;
    return {
      session,
      process,
      get sessionWeight() {
        return who.sessionWeight;
      },
      get weight() {
        return who.weight;
      },
      get class() {
        return who.class;
      },
      sinceMs: isBack ? kept.sinceMs : now,
      order: this.#order++,
      input,
      output,
    };
  }

  #runQueueOf({ lane, limits }: LaneRequest): RunQueue {
    const key = `${lane} ${JSON.stringify(limits)}`;
    const found = this.#lanes.get(key);
    if (found !== undefined) return found;
    if (this.#lanes.size >= LIMITS.lanes)
      for (const [name, each] of this.#lanes) if (each.isForgettable) this.#lanes.delete(name);
    const made = new RunQueue(lane, new Lane(limits, this.#clock.mono()), {
      clock: this.#clock,
      keep: (owner, kept) => void this.#places.set(owner, kept),
    });
    this.#lanes.set(key, made);
    return made;
  }
}

/** The place of an attempt that was refused, or gave its slot back. */
interface KeptPlace {
  readonly queue: RunQueue;
  readonly sinceMs: number;
  /** A process that comes much later has no claim to it. */
  readonly atMs: number;
}

/** What the queues of a scheduler share. */
interface Keeping {
  readonly clock: Clock;
  readonly keep: (owner: object, kept: KeptPlace) => void;
}

/** A lane, its queue and its timer. */
class RunQueue {
  readonly name: string;
  readonly lane: Lane;
  readonly #clock: Clock;
  readonly #keep: Keeping["keep"];
  readonly #waiting = new Map<Ticket, Waiting>();
  #timer: AbortController | undefined;
  /** The ticket that the timer waits for. */
  #awaited: Ticket | undefined;
  #refusal: Error | undefined;

  constructor(name: string, lane: Lane, { clock, keep }: Keeping) {
    this.name = name;
    this.lane = lane;
    this.#clock = clock;
    this.#keep = keep;
  }

  get size(): number {
    return this.#waiting.size;
  }

  holds(ticket: Ticket): boolean {
    return this.#waiting.has(ticket);
  }

  get isForgettable(): boolean {
    return this.#waiting.size === 0 && this.lane.used === 0 && this.lane.closed === undefined;
  }

  get nowMs(): number {
    return this.#clock.mono();
  }

  enter(waiting: Waiting): void {
    this.#waiting.set(waiting.ticket, waiting);
    this.advance();
  }

  /** Its place costs nothing; another decision is needed only if it was the one waited for. */
  leave({ ticket }: Waiting): void {
    this.#waiting.delete(ticket);
    if (ticket === this.#awaited || this.#waiting.size === 0) this.advance();
  }

  /** Grants whatever can be granted now. */
  advance(): void {
    this.#timer?.abort(ABORTED);
    this.#timer = undefined;
    this.#awaited = undefined;
    this.#dismiss();
    for (;;) {
      const now = this.nowMs;
      const decision = decide(this.lane, this.#waiting, now);
      if (decision.kind === "idle") break;
      if (decision.kind === "wait") {
        this.#awaited = decision.ticket;
        this.#wake(decision.untilMs - now);
        break;
      }
      const { ticket, isInTurn } = decision;
      const waiting = this.#waiting.get(ticket) as Waiting;
      this.#waiting.delete(ticket);
      waiting.granted(new Slot(this, this.lane.grant(ticket, isInTurn, now), waiting.who));
    }
    if (this.#waiting.size === 0 && this.lane.used === 0) this.lane.rest();
  }

  refused(granted: Granted, who: Applicant, { retryAfterMs, error }: Refused): number {
    this.#refusal = error;
    this.keep(granted, who);
    return this.lane.refused(granted, retryAfterMs, this.nowMs) - this.nowMs;
  }

  /** Its process comes again, at its place. */
  keep({ ticket: { sinceMs } }: Granted, { owner }: Applicant): void {
    this.#keep(owner, { queue: this, sinceMs, atMs: this.nowMs });
  }

  /** Those who wait would be refused alike, one after the other. */
  bar(error: Error): void {
    for (const { granted } of this.#waiting.values()) granted({ kind: "closed", error });
    this.#waiting.clear();
  }

  view(): LaneView {
    const { lane, nowMs } = this;
    const { slots, used, closed } = lane;
    const closedForMs = closed === undefined ? undefined : Math.max(0, Math.ceil(closed.untilMs - nowMs));
    const head = { lane: this.name, slots, used, waiting: this.#waiting.size };
    return {
      ...head,
      ...(closedForMs === undefined ? {} : { closedForMs }),
      levels: lane.levels(nowMs),
    };
  }

  waits(): readonly LaneWait[] {
    const now = this.nowMs;
    const first = this.#waiting.size === 0 ? undefined : nextOf(this.lane, this.#waiting, now).ticket;
    const order = [...this.#waiting.values()].map(({ ticket }) => ({ ticket, rank: rankOf(ticket, now) }));
    order.sort((a, b) => Number(b.ticket === first) - Number(a.ticket === first) || this.#compare(a, b));
    return order.map(({ ticket }, at) => ({
      pid: ticket.process,
      class: ticket.class,
      position: at + 1,
      waitedMs: Math.round(now - ticket.sinceMs),
    }));
  }

  #compare(a: Ranked, b: Ranked): number {
    const time = this.lane.time(a.rank);
    const isOne = a.ticket.session === b.ticket.session;
    const apart =
      a.rank - b.rank ||
      time.timeOf(a.ticket) - time.timeOf(b.ticket) ||
      (isOne ? time.within(a.ticket) - time.within(b.ticket) : 0);
    return apart || a.ticket.sinceMs - b.ticket.sinceMs || a.ticket.order - b.ticket.order;
  }

  /** Nobody waits in a lane that is closed for too long. */
  #dismiss(): void {
    const { closed } = this.lane;
    if (closed === undefined || closed.untilMs - this.nowMs <= LIMITS.laneClosedMs) return;
    const refusal: LaneRefusal = {
      kind: "closed",
      ...(this.#refusal === undefined ? {} : { error: this.#refusal }),
    };
    for (const { granted } of this.#waiting.values()) granted(refusal);
    this.#waiting.clear();
  }

  #wake(ms: number): void {
    this.#timer?.abort(ABORTED);
    const timer = new AbortController();
    this.#timer = timer;
    const wake = (): void => {
      if (this.#timer === timer) this.advance();
    };
    this.#clock.sleep(Math.max(1, Math.ceil(ms)), timer.signal).then(wake, () => {});
  }
}

interface Ranked {
  readonly ticket: Ticket;
  readonly rank: number;
}

/** One granted attempt. Its slot is freed once, whatever comes first. */
export class Slot implements LaneReport, Disposable {
  readonly #queue: RunQueue;
  readonly #granted: Granted;
  readonly #who: Applicant;
  #isFree = false;
  #isOver = false;
  readonly #die = (): void => {
    this.#free();
    this.#queue.advance();
  };

  constructor(queue: RunQueue, granted: Granted, who: Applicant) {
    this.#queue = queue;
    this.#granted = granted;
    this.#who = who;
    who.ended.addEventListener("abort", this.#die, { once: true });
  }

  readings(readings: LaneReadings): void {
    this.#queue.lane.readings(this.#granted, readings, this.#queue.nowMs);
  }

  refused(refusal: Refused): number {
    if (this.#isOver) return 0;
    this.#isOver = true;
    return this.#queue.refused(this.#granted, this.#who, refusal);
  }

  barred(error: Error): void {
    this.#queue.bar(error);
  }

  /** The process cannot use it now, and comes again. */
  giveBack(): void {
    this.#queue.keep(this.#granted, this.#who);
    this[Symbol.dispose]();
  }

  /** The attempt was made. */
  ended(used: Consumed): void {
    this.#close(({ lane, nowMs }) => lane.ended(this.#granted, used, nowMs));
  }

  /** Unless it was made, or refused, all is as if it had not been granted. */
  [Symbol.dispose](): void {
    this.#close(({ lane, nowMs }) => lane.returned(this.#granted, nowMs));
  }

  #close(account: (queue: RunQueue) => void): void {
    const wasOver = this.#isOver && this.#isFree;
    if (!this.#isOver) account(this.#queue);
    this.#isOver = true;
    this.#free();
    if (!wasOver) this.#queue.advance();
  }

  #free(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    this.#who.ended.removeEventListener("abort", this.#die);
    this.#queue.lane.free(this.#granted);
  }
}
