/** The lines of the text wire (manual, NDJSON protocol). Types only: the thin client must not load schemas. */

import type { WireError } from "./errors.ts";

export const PROTOCOL = {
  maxLineBytes: 10 * 1024 * 1024,
  maxConnections: 256,
  /** The connections reserved for clients of the user; no program of a process gets one. */
  connectionsOfUser: 64,
  /** The most connections for the programs of one process, its descendants included. */
  maxConnectionsOfProcess: 16,
  maxConnectionsOfLine: 64,
  unfinishedLineMs: 10_000,
  maxUnsentEvents: 1_000,
  noProgressMs: 30_000,
  /** The most processes of one page of a list. */
  processesOfPage: 1_000,
  /** The most characters of an intent or a message. */
  textChars: 256 * 1024,
} as const;

export interface WireRequest {
  id?: string | number;
  method: string;
  payload?: unknown;
}

export type WireResponse =
  | { id?: string | number; ok: true; payload?: unknown }
  | { id?: string | number; ok: false; error: WireError };

/** `progress`, `complete`, `error`: wire-events.ts; `log`: process.logs and compose.logs; `event`: compose.up. */
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
