/** The lines of the text wire (manual, NDJSON protocol). Types only: the thin client must not load schemas. */

import type { CallNote } from "./call-note.ts";
import type { WireError } from "./errors.ts";
import type { AskAmount, AskAnswer, AskPart, AskRule, RunOutcome } from "./events.ts";
import type { PermissionMode } from "./process.ts";
import type { Refusal } from "./refusal.ts";

export const PROTOCOL = {
  maxLineBytes: 10 * 1024 * 1024,
  maxConnections: 256,
  /** Of them; no program of a process gets one. */
  connectionsOfUser: 64,
  /** Of the programs of one process, and of all that descend from one. */
  maxConnectionsOfProcess: 16,
  maxConnectionsOfLine: 64,
  unfinishedLineMs: 10_000,
  maxUnsentEvents: 1_000,
  noProgressMs: 30_000,
} as const;

export interface WireRequest {
  id?: string | number;
  method: string;
  payload?: unknown;
}

export type WireResponse =
  | { id?: string | number; ok: true; payload?: unknown }
  | { id?: string | number; ok: false; error: WireError };

/** `log`: process.logs and compose.logs; `event`: compose.up. */
type WireStreamType =
  | "progress"
  | "complete"
  | "error"
  | "syscall_event"
  | "log"
  | "event"
  | "record"
  | "eof";

export interface WireStreamLine {
  type: WireStreamType;
  payload?: unknown;
}

/** `progress`, `complete` and `error` of a spawn stream. Absent keys are left out; order as in the manual. docs/wire.md shows the comments. */
export interface ProgressPayload {
  event:
    | "spawn"
    | "step"
    | "complete"
    | "error"
    | "ask"
    | "ask_closed"
    | "tool"
    | "call"
    | "said"
    | "log"
    | "paused"
    | "mode"
    | "input"
    | "queued"
    | "withdrawn"
    | "reply"
    | "idle";
  pid: number;
  /** What the process was started to do. */
  intent?: string;
  /** A line to show before anything else: a script answers, the sandbox is off. */
  notice?: string;
  /** Name of the agent. */
  agent?: string;
  /** spawn: the requested model. complete: the model that answered last. */
  model?: string;
  /** 0: no limit. */
  max_steps?: number;
  /** Tokens; 0: no limit. */
  budget?: number;
  /** The device of the model, or the device or program that was used. */
  device?: string;
  /** Number of the step, from 1. */
  step?: number;
  /** The step limit; 0: no limit. */
  total?: number;
  /** The last words of the model. */
  result?: string;
  exit_code?: number;
  /** Why the exit code is not 0. */
  exit_reason?: string;
  tokens_used?: number;
  elapsed_ms?: number;
  /** US dollars of its own calls; absent: no call had a price. */
  cost_usd?: number;
  /** US dollars of the process and all its descendants; absent: no call had a price. */
  subtree_cost_usd?: number;
  /** Calls that were refused without asking the user; absent: none. */
  denied?: readonly Refusal[];
  /** Its own calls without a known price; absent: none. */
  unpriced_calls?: number;
  error_message?: string;
  /** The error behind `error_message`. */
  error?: WireError;
  /** Names the question in ask.answer. */
  ask_id?: string;
  /** The question, message or reply. */
  text?: string;
  /** A diff or long parameters to show before the question. */
  detail?: string;
  /** The possible answers, in the order to show them. */
  options?: readonly AskAnswer[];
  /** null: the question is void. */
  answer?: AskAnswer | null;
  /** The asking process and its ancestors, from the top. */
  path?: string;
  /** The tool that would run. */
  tool?: string;
  /** What the call would do, one effect each. */
  effects?: readonly string[];
  /** The parts of a command with their own decisions. */
  parts?: readonly AskPart[];
  /** Why the gate asks. */
  reason?: string;
  /** Where the data that the process has read came from. */
  labels?: readonly string[];
  /** Warnings to show with the question. */
  warnings?: readonly string[];
  /** What the command could do while it runs, in one line. */
  sandbox?: string;
  /** SHA-256 of tool, arguments and effects. */
  digest?: string;
  /** Rules that an "always" may add; none: only this call can be allowed. */
  rules?: readonly AskRule[];
  /** The arguments that the answer may change, as JSON text. */
  arguments?: string;
  /** When the question was asked: milliseconds since 1970. */
  opened_at?: number;
  /** The limit that is reached and the offered raise. */
  amount?: AskAmount;
  /** Questions of the agent to its user: "yes" with answers answers them, "no" dismisses them. */
  questions?: readonly WireQuestion[];
  /** The tool call: tool, argument and outcome in one line each. */
  call?: CallNote;
  in_bytes?: number;
  out_bytes?: number;
  duration_ms?: number;
  /** info, warn or error. */
  level?: string;
  message?: string;
  /** The permission mode; absent in spawn: default mode. */
  mode?: PermissionMode;
  is_paused?: boolean;
  /** Number of the message. */
  seq?: number;
  /** Pid of the sender; 0: a client of the user. */
  from?: number;
  /** Name of the sending client; "": unknown. */
  client?: string;
  /** True: the message joins the current run. */
  joins?: boolean;
  /** Runs and messages before this one. */
  ahead?: number;
  /** How the run ended; limit: its steps or budget are used up. */
  outcome?: RunOutcome;
  /** Messages that wait. */
  queued?: number;
}

export interface WireQuestion {
  question: string;
  header: string;
  options: readonly { readonly label: string; readonly description: string }[];
  multi_select: boolean;
}

/** `log` of process.logs: a line an agent said, or bytes a native program wrote. */
export type LogPayload =
  | { pid: number; timestamp_ms: number; level: string; message: string }
  | { pid: number; data: { base64: string } };

export interface SyscallEventWire {
  /** From the creation of the process to the begin of the call. */
  timestamp_ms: number;
  pid: number;
  /** Name of the call: `Open`, `CtxWrite`. */
  syscall: string;
  /** Strings are cut at 256 characters; data is replaced by its size. */
  args: Record<string, unknown>;
  /** Absent: the call returns nothing or failed. */
  result?: unknown;
  /** The printed error. */
  error?: string;
  /** Written with one to three decimals. */
  duration_ms: number;
  /** Path behind the fd; only for clients that send `all`, as the next two keys. */
  device?: string;
  /** How reads of the device are shown. */
  traffic?: "message" | "byte";
  /** True for calls that are shown only on request. */
  quiet?: boolean;
}
