/**
 * How a device that others limit says so: each write of it may need a slot in a lane, and what a server says of its
 * limits is reported to the lane. All that share the limits of one account share a lane. Plain data: no model, no HTTP.
 */

/** What servers limit by the minute. `tokens`: input and output together. */
export const LANE_FLOWS = ["requests", "input", "output", "tokens"] as const;
export type LaneFlow = (typeof LANE_FLOWS)[number];

/** Absent: not known. */
export interface LaneLimits {
  /** Most attempts at once; absent: learned. */
  readonly maxConcurrent?: number;
  /** By the minute. */
  readonly perMinute?: Readonly<Partial<Record<LaneFlow, number>>>;
}

/** What a write needs before it may begin. */
export interface LaneRequest {
  /** Equal for all requests that share limits. Holds no secret. */
  readonly lane: string;
  /** Estimated tokens of input. */
  readonly input: number;
  /** The most tokens of output. */
  readonly output: number;
  readonly limits: LaneLimits;
}

/** What a server says of one flow. */
export interface LaneReading {
  /** By the minute. */
  readonly limit?: number;
  /** What is left now. */
  readonly remaining?: number;
}

export type LaneReadings = Readonly<Partial<Record<LaneFlow, LaneReading>>>;

/** What a device may say of the slot that its write holds. */
export interface LaneReport {
  /** What the server says of its limits. */
  readings(readings: LaneReadings): void;
  /**
   * The server refused the attempt because there were too many, or because it is overloaded: the lane closes for all.
   * `error`: what others get instead of a wait that would be too long. Returns after how many milliseconds the lane
   * tries again.
   */
  refused(refusal: { readonly retryAfterMs: number | undefined; readonly error: Error }): number;
  /** The server refuses the account, whoever asks: those who wait now get this error instead of a slot. */
  barred(error: Error): void;
}

/** The class of a request in its lane: first those that a person waits for. */
export const LANE_CLASSES = ["interactive", "foreground", "background"] as const;
export type LaneClass = (typeof LANE_CLASSES)[number];

/** The state of a lane, for screens. */
export interface LaneView {
  readonly lane: string;
  readonly slots: number;
  readonly used: number;
  readonly waiting: number;
  /** In how many milliseconds it tries again; absent: it is open. */
  readonly closedForMs?: number;
  /** What is left of each limited flow. */
  readonly levels: Readonly<
    Partial<Record<LaneFlow, { readonly level: number; readonly perMinute: number }>>
  >;
}

/** The place of a process in a lane. */
export interface LaneWait {
  readonly pid: number;
  readonly class: LaneClass;
  /** From 1, in the order of grants as it is now. */
  readonly position: number;
  readonly waitedMs: number;
}

/** A lane and who waits in it, in the order of grants as it is now. */
export interface LaneQueue {
  readonly lane: LaneView;
  readonly waiting: readonly LaneWait[];
}

/** What a process has of the lanes: its class and weight, and the call that waits longest, if one does. */
export interface SchedView extends Partial<SlotWaiting> {
  readonly class: LaneClass;
  readonly weight: number;
}

/** A process that waits for a slot, and its lane. */
export interface SlotWaiting extends Omit<LaneWait, "pid"> {
  readonly lane: LaneView;
}

/** The share of a process in a lane, relative to others. */
export const WEIGHT = { min: 1, max: 100, usual: 10 } as const;
