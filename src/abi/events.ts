/** Events: what `astrace`, clients and user interfaces see of a process while it runs. */

import type { CallNote } from "./call-note.ts";
import type { Boundary } from "./context.ts";
import type { Notice } from "./fact.ts";
import type { Pid } from "./ids.ts";
import type { SlotWaiting } from "./lanes.ts";
import type { Block, Reply, Stall, StreamEvent } from "./llm.ts";
import type { ApiRetry, ModelSwitch, Terminal } from "./loop.ts";
import type { ExitStatus, PermissionMode, RunOutcome } from "./process.ts";
import type { Refusal } from "./refusal.ts";
import type { AskClosedEvent, AskEvent } from "./wire-events.ts";

/**
 * How closely a client follows the conversation. `messages`: whole replies and tool results; `deltas`: also each piece
 * of a reply while it arrives.
 */
export const DETAILS = ["messages", "deltas"] as const;
export type Detail = (typeof DETAILS)[number];

/** One finished kernel call. Strings in `args` are cut at 256 characters, data is replaced by its size. */
export interface SyscallEvent {
  /** Milliseconds from the process's creation to the begin of the call. */
  readonly timestampMs: number;
  readonly pid: Pid;
  /** The traced name: `Open`, `CtxWrite`, `GetPID`. */
  readonly syscall: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Left out if none; bytes as their number. */
  readonly result?: unknown;
  /** The printed error. */
  readonly error?: string;
  /** Milliseconds, with a precision of a microsecond. */
  readonly durationMs: number;
  /** Shown only to readers that ask for every event. */
  readonly quiet?: boolean;
  /** The path behind the fd of a Read or Write, and how its reads are shown. */
  readonly device?: string;
  readonly traffic?: "message" | "byte";
}

export interface LogEntry extends Notice {
  readonly timestampMs: number;
  readonly level: "info" | "warn" | "error";
}

/** The events that a client attached to a process receives, in order. The last one is always `complete`. */
export type ProcessEvent =
  | {
      readonly event: "spawn";
      readonly pid: Pid;
      readonly intent: string;
      readonly notice?: string;
      readonly details: RunDetails;
    }
  | { readonly event: "step"; readonly pid: Pid; readonly step: number; readonly total: number }
  | { readonly event: "mode"; readonly pid: Pid; readonly mode: PermissionMode }
  | AskEvent
  | AskClosedEvent
  | {
      readonly event: "tool";
      readonly pid: Pid;
      readonly device: string;
      readonly inBytes: number;
      readonly outBytes: number;
      readonly durationMs: number;
    }
  /** A call of the model has ended, or was malformed. Sent in addition to `tool`, which counts bytes. */
  | { readonly event: "call"; readonly pid: Pid; readonly call: CallNote }
  /** A call of the model has started an agent, and this is how it is followed meanwhile. */
  | {
      readonly event: "child";
      readonly pid: Pid;
      readonly child: Pid;
      /** Name of the agent; "": the default one. */
      readonly agent: string;
      readonly title: string;
    }
  /** Text of the model beside its calls, in a process that is not a session. */
  | { readonly event: "said"; readonly pid: Pid; readonly text: string }
  /** A whole reply of the model that the process goes on with. Only for clients that follow the messages. */
  | {
      readonly event: "message";
      readonly pid: Pid;
      readonly reply: Reply;
      /** How long its model calls took, failed ones too. */
      readonly durationMs: number;
    }
  /** A tool call got its result, as the model sees it. Only for clients that follow the messages. */
  | {
      readonly event: "tool_result";
      readonly pid: Pid;
      readonly result: Extract<Block, { type: "tool_result" }>;
    }
  /** A call of the model that still runs has printed something. Only for clients that follow the deltas. */
  | {
      readonly event: "output";
      readonly pid: Pid;
      readonly call: Pick<CallNote, "tool" | "about">;
      /** Its last lines. */
      readonly output: string;
      readonly elapsedMs: number;
    }
  /** A piece of a reply that still arrives: a preview. Only for clients that follow the deltas. */
  | { readonly event: "delta"; readonly pid: Pid; readonly piece: StreamEvent }
  /** The pieces of this reply that were shown are void: it does not come. Only for clients that follow the deltas. */
  | { readonly event: "tombstone"; readonly pid: Pid; readonly replyId: string }
  /** After a silence of more than 30 s within a reply, the next piece has come. */
  | (Stall & { readonly event: "llm.stall"; readonly pid: Pid })
  | (ApiRetry & { readonly event: "api_retry"; readonly pid: Pid })
  | (ModelSwitch & { readonly event: "model_switch"; readonly pid: Pid })
  /** A call of the model has waited for a slot for a second. */
  | (SlotWaiting & { readonly event: "sched.waiting"; readonly pid: Pid })
  /** The view of the conversation was shortened: of what the model is sent, not of what is kept. */
  | (Boundary & { readonly event: "context.moved"; readonly pid: Pid })
  | { readonly event: "log"; readonly pid: Pid; readonly entry: LogEntry }
  /** The process was paused or resumed, for any reason. */
  | { readonly event: "paused"; readonly pid: Pid; readonly isPaused: boolean }
  /** A session has read a message: it starts a run, or joins the current one. */
  | (SessionMessage & { readonly event: "input"; readonly joins: boolean })
  /** A message is durable and queued; `ahead`: the number of runs and messages before it. */
  | (SessionMessage & { readonly event: "queued"; readonly ahead: number })
  /** A message was withdrawn before it was read. */
  | { readonly event: "withdrawn"; readonly pid: Pid; readonly seq: number }
  /** The text of one reply of the model. */
  | { readonly event: "reply"; readonly pid: Pid; readonly text: string }
  /** A run of a session has ended: the session handles the next message, or waits for one. */
  | RunEnd
  | { readonly event: "error"; readonly pid: Pid; readonly message: string; readonly error: Error }
  | {
      readonly event: "complete";
      readonly pid: Pid;
      readonly result: string;
      readonly exit: ExitStatus;
      readonly tokensUsed: number;
      /** The cost of its own calls, and including all its descendants; absent: no call had a price. */
      readonly cost?: RunCost;
      /** The number of its own calls without a known price; absent: none. */
      readonly unpricedCalls?: number;
      /** The model that answered last; absent: none has answered. */
      readonly model?: string;
      readonly elapsedMs: number;
      /** Calls that were refused without asking the user; absent: none. */
      readonly denied?: readonly Refusal[];
    };

/** Millionths of a dollar. */
export interface RunCost {
  readonly own: number;
  readonly subtree: number;
  /** Tokens of input that servers had cached, and of output that were thinking. */
  readonly cached: number;
  readonly thinking: number;
}

/** A message of a client of the user, or of another process, to a session. */
interface SessionMessage {
  readonly pid: Pid;
  /** The sequence number of the message; 0: the intent. */
  readonly seq: number;
  /** The sender; 0: a client of the user. */
  readonly from: Pid;
  /** The sending client; "": unknown. */
  readonly client: string;
  readonly text: string;
}

/** The user message that tells the model that the run was interrupted. */
export const INTERRUPTED_NOTE = "[interrupted by the user]";

export interface RunEnd {
  readonly event: "idle";
  readonly pid: Pid;
  /** The sequence number of the message that started the run. */
  readonly seq: number;
  readonly outcome: RunOutcome;
  readonly reason: Terminal["reason"];
  /** The exit code that a process with one run would have. */
  readonly exitCode: number;
  /** Why the run ended so; "" for a completed one. */
  readonly message: string;
  readonly error?: Error;
  /** The last text of the model in the run. */
  readonly result: string;
  /** Tokens used by this run alone. */
  readonly tokensUsed: number;
  readonly elapsedMs: number;
  /** The number of queued messages. */
  readonly queued: number;
  /** Agents that work for it in the background or whose messages wait, and so begin further runs; absent: none. */
  readonly background?: number;
  /** Commands of its own that go on in the background; absent: none. */
  readonly jobs?: number;
  /** Calls refused in the run; absent: none. */
  readonly denied?: readonly Refusal[];
}

/** Details for the verbose screen; it prints `-` for an empty text. */
interface RunDetails {
  readonly agent: string;
  readonly model: string;
  /** 0: no limit. */
  readonly maxSteps: number;
  /** Tokens; 0: no limit. */
  readonly budget: number;
  readonly device: string;
  /** The mode in which it starts; absent: `default`. */
  readonly mode?: PermissionMode;
}
