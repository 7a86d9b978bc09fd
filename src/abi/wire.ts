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

/** `progress`, `complete` and `error` of a spawn stream. Absent keys are left out; order as in the manual. */
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
  intent?: string;
  /** spawn: a line a person must read before anything else (a script is answering, …). */
  notice?: string;
  /** spawn, only when asked for with `verbose`. `model` of complete: which answered last. */
  agent?: string;
  model?: string;
  max_steps?: number;
  budget?: number;
  device?: string;
  step?: number;
  total?: number;
  result?: string;
  exit_code?: number;
  exit_reason?: string;
  tokens_used?: number;
  elapsed_ms?: number;
  /** complete: US dollars, its own and with all below it; absent where nothing that has a price was used. */
  cost_usd?: number;
  subtree_cost_usd?: number;
  /** complete, idle: calls that were refused without asking a person; absent: none. */
  denied?: readonly Refusal[];
  /** complete: its own calls whose price is not known; absent: none. */
  unpriced_calls?: number;
  error_message?: string;
  /** error: the documented error behind error_message. */
  error?: WireError;
  ask_id?: string;
  text?: string;
  detail?: string;
  options?: readonly AskAnswer[];
  answer?: AskAnswer | null;
  /** ask: as in `Ask` (abi/events.ts). */
  path?: string;
  tool?: string;
  effects?: readonly string[];
  parts?: readonly AskPart[];
  reason?: string;
  labels?: readonly string[];
  warnings?: readonly string[];
  sandbox?: string;
  digest?: string;
  rules?: readonly AskRule[];
  /** The arguments that may be changed, as JSON text. */
  arguments?: string;
  opened_at?: number;
  amount?: AskAmount;
  /** ask: an agent asks its person; answered by "yes" with answers, dismissed by "no". */
  questions?: readonly WireQuestion[];
  /** call; only when asked for with `calls`, as `said` is. */
  call?: CallNote;
  in_bytes?: number;
  out_bytes?: number;
  duration_ms?: number;
  level?: string;
  message?: string;
  /** mode; spawn, where it is not `default`. */
  mode?: PermissionMode;
  /** paused. */
  is_paused?: boolean;
  /** input, queued, withdrawn, idle: of the message. */
  seq?: number;
  from?: number;
  client?: string;
  /** input: the run under way goes on with it. */
  joins?: boolean;
  ahead?: number;
  /** idle. */
  outcome?: RunOutcome;
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
  timestamp_ms: number;
  pid: number;
  syscall: string;
  args: Record<string, unknown>;
  result?: unknown;
  error?: string;
  /** Written with one to three decimals. */
  duration_ms: number;
  /** Extra keys for the screen of astrace; not part of the JSON output. */
  device?: string;
  traffic?: "message" | "byte";
  quiet?: boolean;
}
