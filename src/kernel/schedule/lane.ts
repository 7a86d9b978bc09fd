/**
 * The state of one lane: slots, buckets, whether it is closed, and whose turn it is. What it may grant is decided in
 * decide.ts; here is what follows from a grant and from its end.
 */
import { LANE_FLOWS, type LaneFlow, type LaneLimits, type LaneReadings } from "../../abi/lanes.ts";
import { LIMITS } from "../limits.ts";
import { Bucket, type Mark } from "./bucket.ts";
import { Recent } from "./recent.ts";
import { RANK_COUNT, rankOf, type Ticket } from "./ticket.ts";
import { VirtualTime } from "./virtual-time.ts";

/** Grants that count together for the exceptions from the order. */
const WINDOW = 8;
/** So many answers while all slots are used, and there is one more slot. */
const ANSWERS_PER_SLOT = 10;
const FIRST_CLOSED_MS = 500;
const MOST_CLOSED_MS = 32_000;
/** The expected output of a lane that has answered nothing yet. */
const USUAL_OUTPUT = 2_000;

/** An attempt in progress. */
export interface Granted {
  readonly ticket: Ticket;
  readonly rank: number;
  readonly charged: Readonly<Record<LaneFlow, number>>;
  readonly marks: ReadonlyMap<LaneFlow, Mark>;
}

/** What an attempt really used. */
export interface Consumed {
  readonly input: number;
  readonly output: number;
}

/** Where the lane is within the present eight grants. */
interface GrantWindow {
  /** The best rank that was granted in it. */
  readonly best: number;
  readonly isLastOfRank: boolean;
  readonly isLast: boolean;
}

export class Lane {
  readonly #stated: LaneLimits;
  readonly #buckets = new Map<LaneFlow, Bucket>();
  readonly #outputs = new Recent();
  /** Input that counted, by what was estimated: servers do not count what they have cached. */
  readonly #inputShares = new Recent();
  #slots: number;
  #used = 0;
  #answers = 0;
  #granted = 0;
  #best: number = RANK_COUNT;
  #times = newTimes();
  #closedUntilMs: number | undefined;
  #refusals = 0;
  #probe: Granted | undefined;

  constructor(stated: LaneLimits, nowMs: number) {
    this.#stated = stated;
    this.#slots = stated.maxConcurrent ?? LIMITS.laneSlots;
    for (const flow of LANE_FLOWS) {
      const perMinute = stated.perMinute?.[flow];
      if (perMinute !== undefined) this.#buckets.set(flow, new Bucket(perMinute, perMinute, nowMs));
    }
  }

  get slots(): number {
    return this.#slots;
  }

  get used(): number {
    return this.#used;
  }

  /** `isProbed`: the one attempt that may open it again is in progress. undefined: the lane is open. */
  get closed(): { readonly untilMs: number; readonly isProbed: boolean } | undefined {
    if (this.#closedUntilMs === undefined) return undefined;
    return { untilMs: this.#closedUntilMs, isProbed: this.#probe !== undefined };
  }

  get window(): GrantWindow {
    const at = this.#granted % WINDOW;
    return { best: this.#best, isLastOfRank: at === WINDOW - 2, isLast: at === WINDOW - 1 };
  }

  readonly time = (rank: number): VirtualTime => this.#times[rank] as VirtualTime;

  /** The earliest time at which all buckets let the ticket through. */
  readyAtMs(ticket: Ticket, nowMs: number): number {
    const charge = this.#chargeOf(ticket);
    return Math.max(nowMs, ...[...this.#buckets].map(([flow, each]) => each.readyAtMs(charge[flow], nowMs)));
  }

  levels(nowMs: number): Partial<Record<LaneFlow, { readonly level: number; readonly perMinute: number }>> {
    const all = [...this.#buckets].map(([flow, bucket]) => {
      const level = Math.floor(bucket.level(nowMs));
      return [flow, { level, perMinute: bucket.perMinute }] as const;
    });
    return Object.fromEntries(all);
  }

  grant(ticket: Ticket, isInTurn: boolean, nowMs: number): Granted {
    const charged = this.#chargeOf(ticket);
    const rank = rankOf(ticket, nowMs);
    const marks = new Map(
      [...this.#buckets].map(([flow, each]) => [flow, each.charge(charged[flow], nowMs)]),
    );
    const granted = { ticket, rank, charged, marks };
    const { isLast } = this.window;
    this.#used++;
    this.#granted++;
    this.#best = isLast ? RANK_COUNT : Math.min(this.#best, rank);
    this.time(rank).advance(ticket, charged.input + charged.output, isInTurn);
    if (this.#closedUntilMs !== undefined) this.#probe = granted;
    return granted;
  }

  /** Its slot is free again: after the calls below, or before them if its process died meanwhile. */
  free(granted: Granted): void {
    this.#used--;
    if (granted === this.#probe) this.#probe = undefined;
  }

  /** It ended with an answer of the server, or with a failure that says nothing of its limits. */
  ended(granted: Granted, { input, output }: Consumed, nowMs: number): void {
    const { ticket, charged } = granted;
    if (ticket.input > 0 && input + output > 0) this.#inputShares.add(input / ticket.input);
    if (output > 0) this.#outputs.add(output);
    const by = { requests: 0, input: input - charged.input, output: output - charged.output };
    this.#correct(granted, { ...by, tokens: by.input + by.output }, nowMs);
    if (granted === this.#probe) this.#open();
    else if (this.#closedUntilMs === undefined && this.#used >= this.#slots) this.#grow();
  }

  /** It did not happen: all is as if it had not been granted. */
  returned(granted: Granted, nowMs: number): void {
    if (granted === this.#probe) this.#probe = undefined;
    const { requests, input, output, tokens } = granted.charged;
    this.#correct(granted, { requests: -requests, input: -input, output: -output, tokens: -tokens }, nowMs);
  }

  /**
   * The server refused it. Attempts that were in progress when the lane closed say no more than how long.
   * Returns the time at which the lane tries again.
   */
  refused(granted: Granted, retryAfterMs: number | undefined, nowMs: number): number {
    const isNews = this.#closedUntilMs === undefined || granted === this.#probe;
    if (this.#closedUntilMs === undefined && this.#buckets.size === 0)
      this.#slots = Math.max(1, Math.floor(this.#slots / 2));
    if (isNews) this.#refusals++;
    this.#answers = 0;
    const backoffMs = isNews ? Math.min(FIRST_CLOSED_MS * 2 ** (this.#refusals - 1), MOST_CLOSED_MS) : 0;
    const untilMs = nowMs + Math.min(retryAfterMs ?? backoffMs, LIMITS.laneAskedAgainMs);
    this.#closedUntilMs = Math.max(untilMs, isNews ? 0 : (this.#closedUntilMs ?? 0));
    this.returned(granted, nowMs);
    return this.#closedUntilMs;
  }

  /** What the server said of its limits in its answer to an attempt. */
  readings({ marks }: Granted, readings: LaneReadings, nowMs: number): void {
    for (const flow of LANE_FLOWS) {
      const { limit = 0, remaining } = readings[flow] ?? {};
      const bucket = this.#buckets.get(flow) ?? this.#found(flow, limit, nowMs);
      if (bucket === undefined) continue;
      if (limit > 0) bucket.limit(limit);
      const mark = marks.get(flow) ?? bucket.mark(nowMs);
      if (remaining !== undefined) bucket.remains(remaining, mark, nowMs);
    }
  }

  /** A limit of which nothing was known. */
  #found(flow: LaneFlow, limit: number, nowMs: number): Bucket | undefined {
    if (limit <= 0) return undefined;
    const made = new Bucket(undefined, limit, nowMs);
    this.#buckets.set(flow, made);
    return made;
  }

  /** Nobody waits and nothing is in progress: there is nobody to be fair to. */
  rest(): void {
    this.#times = newTimes();
    this.#granted = 0;
    this.#best = RANK_COUNT;
  }

  #chargeOf({ input, output }: Ticket): Readonly<Record<LaneFlow, number>> {
    const share = this.#inputShares.high ?? 1;
    const expected = Math.min(output, Math.ceil(this.#outputs.high ?? USUAL_OUTPUT));
    return {
      requests: 1,
      input: Math.ceil(input * share),
      output: expected,
      tokens: Math.ceil(input * share) + expected,
    };
  }

  #take(amounts: Readonly<Record<LaneFlow, number>>, nowMs: number): void {
    for (const [flow, bucket] of this.#buckets) bucket.take(amounts[flow], nowMs);
  }

  #correct({ ticket, rank }: Granted, by: Readonly<Record<LaneFlow, number>>, nowMs: number): void {
    this.#take(by, nowMs);
    this.time(rank).correct(ticket, by.input + by.output);
  }

  #open(): void {
    this.#closedUntilMs = undefined;
    this.#probe = undefined;
    this.#refusals = 0;
  }

  #grow(): void {
    const most = this.#stated.maxConcurrent ?? LIMITS.laneSlotsMax;
    if (this.#slots >= most || ++this.#answers < ANSWERS_PER_SLOT) return;
    this.#answers = 0;
    this.#slots++;
  }
}

/** For each rank. */
function newTimes(): VirtualTime[] {
  return Array.from({ length: RANK_COUNT }, () => new VirtualTime());
}
