/**
 * The events in a stream of `spawn`, `session.open` or `process.attach`, one JSON object per line (manual, NDJSON
 * protocol). Absent keys are left out. Types only: the thin client must not load schemas.
 */
import type { AskAmount, AskAnswer, AskFacts, AskPart, AskRule, QuestionItem } from "./ask.ts";
import type { CallNote } from "./call-note.ts";
import type { Boundary } from "./context.ts";
import type { WireError } from "./errors.ts";
import type { LaneClass } from "./lanes.ts";
import type { Block, LlmErrorKind, StopReason, StreamEvent, Usage } from "./llm.ts";
import type { ModelPlace, ModelSwitch, Terminal } from "./loop.ts";
import type { PermissionMode, RunOutcome } from "./process.ts";
import type { Refusal } from "./refusal.ts";

export type WireEvent =
  | SpawnEvent
  | StepEvent
  | ModeEvent
  | AskEvent
  | AskClosedEvent
  | ToolEvent
  | CallEvent
  | ChildEvent
  | SaidEvent
  | MessageEvent
  | ToolResultEvent
  | OutputEvent
  | DeltaEvent
  | TombstoneEvent
  | LlmStallEvent
  | ApiRetryEvent
  | ModelSwitchEvent
  | SchedWaitingEvent
  | ContextMovedEvent
  | LogEvent
  | PausedEvent
  | InputEvent
  | QueuedEvent
  | WithdrawnEvent
  | ReplyEvent
  | IdleEvent
  | ErrorEvent
  | CompleteEvent;

interface Told<Name extends string> {
  readonly event: Name;
  readonly pid: number;
}

export interface SpawnEvent extends Told<"spawn"> {
  /** The intent of the process. */
  readonly intent: string;
  /** A line to show before anything else: a script answers, the sandbox is off. */
  readonly notice?: string;
  /** Name of the agent. */
  readonly agent?: string;
  /** The requested model. */
  readonly model?: string;
  /** 0: no limit. */
  readonly max_steps?: number;
  /** Tokens; 0: no limit. */
  readonly budget?: number;
  /** The device of the model. */
  readonly device?: string;
  /** Absent: default mode. */
  readonly mode?: PermissionMode;
}

export interface StepEvent extends Told<"step"> {
  /** Number of the step, from 1. */
  readonly step: number;
  /** The step limit; 0: no limit. */
  readonly total: number;
}

export interface ModeEvent extends Told<"mode"> {
  readonly mode: PermissionMode;
}

/**
 * A question of the permission gate, or of an agent, to the user: the same from the gate to the dialog. Keys without
 * information are left out.
 */
export interface AskEvent extends Told<"ask"> {
  /** Names the question in ask.answer; a repeat of the same call after a restart of the daemon has the same id. */
  readonly ask_id: string;
  /** The question, in one line: `bash: npm test`. */
  readonly text: string;
  /** The possible answers, in the order to show them. */
  readonly options: readonly AskAnswer[];
  /** A diff or long parameters to show before the question. */
  readonly detail?: string;
  /** The asking process and its ancestors, from the top: `main-1 › worker-2`. */
  readonly path?: string;
  /** The tool that would run. */
  readonly tool?: string;
  /** The effects of the call. */
  readonly effects?: readonly string[];
  /** The parts of a command with their own decisions. */
  readonly parts?: readonly AskPart[];
  /** Why the gate asks. */
  readonly reason?: string;
  /** The sources of the data that the process has read. */
  readonly labels?: readonly string[];
  /** Warnings to show with the question. */
  readonly warnings?: readonly string[];
  /** What the sandbox lets the command do, in one line. */
  readonly sandbox?: string;
  /** Reason, warnings and sandbox as facts; absent: only their text is known. */
  readonly facts?: AskFacts;
  /** SHA-256 of tool, arguments and effects. */
  readonly digest?: string;
  /** Rules that an "always" may add; none: only this call can be allowed. */
  readonly rules?: readonly AskRule[];
  /** The limit that is reached and the offered raise. */
  readonly amount?: AskAmount;
  /** A plan: other modes than the one in the question to continue in; a "yes" names one in its `words`. */
  readonly modes?: readonly PermissionMode[];
  /** The arguments that the answer may change, as JSON text. */
  readonly arguments?: string;
  /** When the question was asked: milliseconds since 1970. */
  readonly opened_at?: number;
  /** Questions of the agent to its user: "yes" with answers answers them, "no" dismisses them. */
  readonly questions?: readonly QuestionItem[];
}

/** A question before it is asked. */
export type AskedQuestion = Omit<AskEvent, "event" | "pid" | "ask_id">;

export interface AskClosedEvent extends Told<"ask_closed"> {
  readonly ask_id: string;
  /** null: the question is void. */
  readonly answer: AskAnswer | null;
}

/** Sent with `verbose`, like `log`. */
export interface ToolEvent extends Told<"tool"> {
  /** The device or program that was used. */
  readonly device: string;
  readonly in_bytes: number;
  readonly out_bytes: number;
  readonly duration_ms: number;
}

/** Sent with `calls`, like `said`. */
interface CallEvent extends Told<"call"> {
  /** The tool call: tool, argument and outcome in one line each. */
  readonly call: CallNote;
}

/** Sent with `calls`: an agent was started, and works now. */
export interface ChildEvent extends Told<"child"> {
  readonly child: number;
  /** Name of the agent; "": the default one. */
  readonly agent: string;
  /** Some words on what it is to do. */
  readonly title: string;
}

interface SaidEvent extends Told<"said"> {
  readonly text: string;
}

/** A whole reply of the model. Sent with `detail`, like `tool_result`. */
export interface MessageEvent extends Told<"message"> {
  /** Id of the reply, as the server of the model names it. */
  readonly id: string;
  readonly model: string;
  /** Its blocks, in the form of /dev/llm. */
  readonly content: readonly Block[];
  readonly stop_reason: StopReason;
  readonly usage: Usage;
  /** How long its model calls took, failed ones too. */
  readonly duration_ms: number;
}

/** The result of one tool call, as the model sees it. */
export interface ToolResultEvent extends Told<"tool_result"> {
  /** Id of the call. */
  readonly tool_use_id: string;
  readonly content: string;
  /** The call failed or was refused; absent: it did not. */
  readonly is_error?: true;
  /** MIME types of the images and documents beside the text; absent: none. */
  readonly media?: readonly string[];
}

/** Sent with the detail `deltas`: what a call that still runs has printed. The next one takes its place. */
export interface OutputEvent extends Told<"output"> {
  /** The call, as the `call` event at its end names it. */
  readonly call: Pick<CallNote, "tool" | "about">;
  /** Its last lines. */
  readonly output: string;
  /** How long the call has run. */
  readonly elapsed_ms: number;
}

/** Sent with the detail `deltas`: a preview, which a broken attempt leaves incomplete. */
interface DeltaEvent extends Told<"delta"> {
  readonly piece: StreamEvent;
}

/** Sent with the detail `deltas`: the reply does not come, and whoever shows its pieces takes them away. */
interface TombstoneEvent extends Told<"tombstone"> {
  /** Id of the reply, as its pieces have it. */
  readonly reply_id: string;
}

/** Sent with `verbose`, like `log`. The attempt goes on. */
export interface LlmStallEvent extends Told<"llm.stall"> {
  /** How long nothing came: more than 30 s. */
  readonly stall_duration_ms: number;
  /** Number of such silences of this attempt. */
  readonly stall_count: number;
  readonly total_stall_ms: number;
}

/** Sent with `verbose`, like `log`. */
export interface ApiRetryEvent extends Told<"api_retry"> {
  /** Number of the retry, from 1. */
  readonly attempt: number;
  readonly max_retries: number;
  /** The wait before it. */
  readonly delay_ms: number;
  /** The kind of failure: rate_limit, overloaded, server, timeout, connection, stream_stalled, stream_malformed. */
  readonly error_kind: LlmErrorKind;
  /** HTTP status; absent: the failure had none. */
  readonly status?: number;
  /** What was wrong with a malformed reply. */
  readonly message?: string;
}

/** Sent with `verbose`, like `log`. */
export interface ModelSwitchEvent extends Told<"model_switch"> {
  /** Device and name of the model that answered so far; an empty name is the default of the driver. */
  readonly from: ModelPlace;
  /** The one that answers for the rest of the run; with the cause `user`, from now on. */
  readonly to: ModelPlace;
  /** overloaded, model_not_found, or user: the user has chosen another model. */
  readonly cause: ModelSwitch["cause"];
}

/** Sent with `verbose`, like `log`. */
export interface SchedWaitingEvent extends Told<"sched.waiting"> {
  /** interactive, foreground or background. */
  readonly class: LaneClass;
  /** Its place in the order of grants, from 1. */
  readonly position: number;
  readonly waited_ms: number;
  /** The lane: its driver and model, without the mark of its account. */
  readonly lane: string;
  readonly slots: number;
  readonly used: number;
  /** After how long the lane tries again, because its server refused an attempt; absent: it is open. */
  readonly closed_for_ms?: number;
}

/** Sent with `verbose`, like `log`. */
export interface ContextMovedEvent extends Told<"context.moved"> {
  /** micro: old tool results were cleared; full: summarised; partial: a part was; snip: some left the view; drop: the oldest messages were left out; clear: all were. */
  readonly layer: Boundary["layer"];
  /** auto, manual: the user asked for it, or reactive: a request was refused as too long. */
  readonly trigger: Boundary["trigger"];
  /** Tokens, estimated. */
  readonly before: number;
  readonly after: number;
}

export interface LogEvent extends Told<"log"> {
  /** info, warn or error. */
  readonly level: string;
  readonly message: string;
}

export interface PausedEvent extends Told<"paused"> {
  readonly is_paused: boolean;
}

/** A message sent to the session by the user or a process. */
interface MessageOf<Name extends string> extends Told<Name> {
  /** Number of the message; 0: the intent. */
  readonly seq: number;
  /** Pid of the sender; 0: a client of the user. */
  readonly from: number;
  /** Name of the sending client; "": unknown. */
  readonly client: string;
  readonly text: string;
}

export interface InputEvent extends MessageOf<"input"> {
  /** True: the message joins the current run; absent: it begins one. */
  readonly joins?: boolean;
}

export interface QueuedEvent extends MessageOf<"queued"> {
  /** Runs and messages before this one. */
  readonly ahead: number;
}

export interface WithdrawnEvent extends Told<"withdrawn"> {
  /** Number of the message. */
  readonly seq: number;
}

/** The words of one reply of the model. */
interface ReplyEvent extends Told<"reply"> {
  readonly text: string;
}

/** How a run ended, of a session or of a process that has one. */
interface Ended<Name extends string> extends Told<Name> {
  /** The last words of the model. */
  readonly result: string;
  readonly exit_code: number;
  readonly tokens_used: number;
  /** Calls that were refused without asking the user; absent: none. */
  readonly denied?: readonly WireRefusal[];
}

export interface IdleEvent extends Ended<"idle"> {
  /** Number of the message that began the run. */
  readonly seq: number;
  /** How the run ended; limit: its steps or budget are used up. */
  readonly outcome: RunOutcome;
  /** Why the run ended so, by its name. */
  readonly reason?: Terminal["reason"];
  /** The same in words. */
  readonly message?: string;
  readonly error?: WireError;
  readonly elapsed_ms: number;
  /** Messages that wait. */
  readonly queued: number;
  /** Agents that work for it in the background or whose messages wait, and so begin further runs; absent: none. */
  readonly background?: number;
  /** Commands of its own that go on in the background; absent: none. */
  readonly jobs?: number;
}

export interface ErrorEvent extends Told<"error"> {
  readonly error_message: string;
  readonly error?: WireError;
}

/** Always the last. */
export interface CompleteEvent extends Ended<"complete"> {
  /** Why the exit code is not 0. */
  readonly exit_reason?: string;
  readonly elapsed_ms?: number;
  /** US dollars of its own calls; absent: no call had a price. */
  readonly cost_usd?: number;
  /** US dollars of the process and all its descendants; absent: no call had a price. */
  readonly subtree_cost_usd?: number;
  /** Tokens of its own input that servers had cached; absent: none. */
  readonly cached_tokens?: number;
  /** Tokens of its own output that were thinking, where servers say so; absent: none. */
  readonly thinking_tokens?: number;
  /** Its own calls without a known price; absent: none. */
  readonly unpriced_calls?: number;
  /** The model that answered last. */
  readonly model?: string;
}

/** A call that was refused without a question. */
export interface WireRefusal extends Omit<Refusal, "remedy"> {
  /** The narrowest flags of a command line that allow it: `--allow 'bash(rm -r b)'`; null: none known. */
  readonly allow: string | null;
}
