/** How the kernel starts user space: a program gets a handle and its start data, and ends with a status. */
import type { AgentInfo } from "./agent.ts";
import type { WindowFacts } from "./context.ts";
import type { ForkPrefix } from "./fork.ts";
import type { CtxId, Fd, Pid } from "./ids.ts";
import type { Effort, Thinking } from "./llm.ts";
import type { ModelPlace } from "./loop.ts";
import type { ExitStatus } from "./process.ts";
import type { Sys } from "./sys.ts";

export interface Clock {
  /** Wall clock, milliseconds since the epoch: for display only. */
  now(): number;
  /** Monotonic milliseconds with a fraction: for every interval, timeout and trace. */
  mono(): number;
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The tokens of a process; `limit` 0: no limit. */
export interface AccountView {
  readonly limit: number;
  readonly used: number;
  readonly reserved: number;
  /** At the limit, the next call asks the user for more. Absent: nobody is asked. */
  readonly asks?: true;
}

/**
 * The outcome of a call that was interrupted by the end of its daemon, found by looking at the files it was to change.
 */
export interface Probed {
  readonly outcome: "done" | "not_done";
  readonly tool: string;
  /** The input as sent, cut to the length that a record stores. */
  readonly input: string;
}

/** What a program recorded in an earlier daemon. */
export interface Restored {
  /** The state of the last `checkpoint`; null: no checkpoint was recorded. */
  readonly state: unknown;
  /**
   * What was recorded after it, in order: parts added to it, effects that began (model calls do not count), and the
   * outcome that a later daemon found for one of these effects.
   */
  readonly since: readonly (
    | { readonly kind: "part"; readonly part: unknown }
    | { readonly kind: "effect" }
    | { readonly kind: "probed"; readonly probed: Probed }
  )[];
}

/** A message to a session that started a run or joined it. */
export interface RunInput {
  /** The sequence number of the message; 0: the intent. */
  readonly seq: number;
  /** The sender; 0: a client of the user. */
  readonly from: Pid;
  readonly client: string;
  readonly text: string;
  /** The most steps of this run; absent: those of the process. */
  readonly maxSteps?: number;
}

/** The model that answers, and what goes with it. */
export interface ModelStart {
  /** Its device: `/dev/llm/claude`. */
  readonly modelDevice: string;
  /** "": the driver's default. */
  readonly model: string;
  /** The mark of what only this model can read. Absent: it is the model with which the process began. */
  readonly maker?: string;
  /** Absent: the model is not asked to think; so in replays of histories from before it could be. */
  readonly thinking?: Thinking;
  /** Absent: the server's default. */
  readonly effort?: Effort;
  /** The models that may answer for the rest of a run when this one cannot, in order. Absent: none. */
  readonly fallbacks?: readonly ModelPlace[];
  /** Their windows; null: not known. Absent: in older histories, where that of the model counts. */
  readonly fallbackWindows?: readonly (WindowFacts | null)[];
  /** The window of the model. Absent: not known, or in replays of histories from before views could move. */
  readonly window?: WindowFacts;
  /** How often the user has chosen another model. Absent: only in replays of histories from before that, and in threads. */
  readonly chosen?: number;
}

/** The model that the user has chosen last. */
export interface ChosenModel extends ModelStart {
  readonly chosen: number;
  /** It takes images and documents. */
  readonly images: boolean;
}

/** The data that a program is started with; constant while it runs. */
export interface ProgramStart extends ModelStart {
  readonly pid: Pid;
  readonly ctxId: CtxId;
  readonly intent: string;
  readonly agent: AgentInfo | null;
  readonly cwd: string;
  /** The open model device. */
  readonly modelFd: Fd;
  /** 0: no limit. */
  readonly maxSteps: number;
  /** fd 0, to be read to its end before the first step; null: no input. */
  readonly input: Fd | null;
  /** The MCP servers mounted for this process, with their names from the agent file. */
  readonly mounts: readonly { readonly name: string; readonly path: string; readonly alwaysLoad?: boolean }[];
  /** 2: the process can search for tools. Absent: only in replays of histories from before that existed. */
  readonly toolset?: 2;
  /**
   * The model is notified of mode changes. Absent: in replays of older histories, and in threads, whose process is
   * notified.
   */
  readonly modes?: true;
  /** The model is told of the surroundings of the process. Absent: only in replays of histories from before that. */
  readonly surroundings?: true;
  /** The user can ask for changes of the context. Absent: in older histories, and in threads. */
  readonly viewRequests?: true;
  /** Calls begin while the rest of their reply still comes. Absent: only in replays of histories from before that. */
  readonly early?: true;
  /** It looks only for its own agents that work. Absent: only in replays of histories from before that. */
  readonly ownAgents?: true;
  /** A message that begins with `/name` loads a skill. Absent: in replays of older histories, and in threads. */
  readonly slash?: true;
  /** Set for a member of a team: its name there, and who leads it. */
  readonly team?: { readonly name: string; readonly lead: Pid };
  /** Set for an internal fork: what its requests begin with. Its surroundings and its mode are those of its parent. */
  readonly fork?: ForkPrefix;
  /** null: a fresh start. */
  readonly restored: Restored | null;
  /** Set for a session; `client` sent the intent. null: the process has one run, and ends with it. */
  readonly session: { readonly client: string } | null;
}

/** The arguments of a program. */
export interface Begun {
  readonly sys: Sys;
  readonly start: ProgramStart;
}

/** Does not reject for an expected end; a rejection is a bug and becomes `unexpected exit`. */
export type Program = (sys: Sys, start: ProgramStart) => Promise<ExitStatus>;
