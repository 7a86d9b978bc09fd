/**
 * Intents: stretches of action with a beginning and an end (kernel IPC chapter, 7.2 and 7.3), and the states that
 * events amount to (7.6). `kernel/events` implements both.
 */
import type { Pid } from "../../abi/ids.ts";
import type { EventIds } from "../../abi/native.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { Compaction, KernelEvent } from "./events.ts";

export type Outcome = "completed" | "failed" | "cancelled";

export interface Intent {
  readonly id: string;
  readonly name: string;
  /** The process that has begun it; 0: the user. */
  readonly owner: number;
  readonly parent: string | null;
  readonly correlationId: string | null;
  readonly start: number;
  readonly end: number | null;
  /** When something happened of it last, ms since the epoch. */
  readonly last: number;
  readonly outcome: Outcome | null;
  /** Programs that were started for it. */
  readonly processes: readonly number[];
  /** ms since the epoch: after that nothing of it goes on. null: it is not being cancelled. */
  readonly deadline: number | null;
}

export interface IntentWish {
  readonly owner: Pid;
  readonly name: string;
  readonly intentId?: string | undefined;
  readonly parentIntentId?: string | undefined;
  readonly data?: object | undefined;
  /** Of the request; `correlationId` begins a new story if the parent has none. */
  readonly ids: EventIds;
  readonly request?: RequestMark | undefined;
}

export interface IntentEnd {
  readonly outcome: Outcome;
  readonly summary?: string | undefined;
  readonly data?: object | undefined;
  readonly reason?: string | undefined;
}

export interface IntentCancel {
  readonly reason: string;
  readonly graceMs: number;
  readonly ids: EventIds;
}

/** A connection, as a cancellation sees it. */
export interface IntentClient {
  /** The process for which it acts. */
  readonly actor: number;
  /** It has negotiated `cancel`: what it has begun ends by itself until the deadline. */
  readonly isCooperative: boolean;
  /** Whether it has begun this intent. */
  hasBegun(intentId: string): boolean;
  /** An intent that concerns it is to end. */
  told(event: KernelEvent): void;
  /** Its open requests with these ids end with CANCELLED. */
  abort(intents: ReadonlySet<string>): void;
}

export const PROJECTIONS = ["processes", "intents", "progress", "devices", "timeline"] as const;
export type ProjectionName = (typeof PROJECTIONS)[number];

export interface ProjectionWish {
  readonly projection: ProjectionName;
  readonly at?: number | undefined;
  readonly pid?: number | undefined;
  readonly intentId?: string | undefined;
  readonly correlationId?: string | undefined;
  /** A row of the timeline: the page begins after it. */
  readonly after?: number | undefined;
  /** Whether the caller may see what concerns this process; undefined: no process. */
  sees(pid: number | undefined): boolean;
}

export interface Projected {
  readonly projection: ProjectionName;
  readonly at: number;
  readonly state: unknown;
  readonly next?: string;
}

/** Whether the name is kept for an agent, of now or later: `i_<pid>`. */
export function isOfAgent(intentId: string): boolean {
  return /^i_\d{1,15}$/.test(intentId);
}

/** A program as the request to start it says. */
export interface LostStart {
  readonly id: string;
  readonly pid: Pid;
  /** Of the process that asked. */
  readonly ppid: number;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly pty: boolean;
  readonly ids: EventIds;
}

export interface Intents {
  /** Resolves when what earlier daemons left is known. */
  ready(): Promise<void>;
  /** undefined: never begun, or ended long ago. Known after `ready`. */
  find(id: string): Intent | undefined;
  /** An open one of the same id and owner is returned. NOT_FOUND: the parent, or another's. INVALID: nested too deep. */
  begin(wish: IntentWish): Promise<Intent>;
  /** With its open children. Ended already: its first outcome stays. NOT_FOUND. Resolves with its duration in ms. */
  end(id: string, end: IntentEnd, ids?: EventIds): Promise<number>;
  /** Ends these and all that they have started. Resolves once everybody was told. */
  cancel(ids: readonly string[], cancel: IntentCancel): Promise<{ intents: string[]; processes: number[] }>;
  /** Open intents of a story. */
  ofCorrelation(correlationId: string): readonly Intent[];
  /**
   * Tells the start and the end of a program that its daemon recorded and had no time to tell of. Nothing if any event tells of
   * it, it runs, or it has ended otherwise.
   */
  recall(start: LostStart): Promise<void>;
  /** The process belongs to the intent. */
  join(id: string, pid: Pid): void;
  /** Until the result is called. */
  attend(client: IntentClient): () => void;
  /** NOT_FOUND: `at` is below the floor. INVALID: above the newest event. */
  project(wish: ProjectionWish): Promise<Projected>;
  /** Compacts what is older than the event `before`. */
  compact(before: number): Promise<Compaction>;
}
