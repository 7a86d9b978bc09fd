/**
 * The messages of the binary wire (kernel IPC chapter). Types and limits only: clients load this file without schemas.
 * Keys are camelCase, times are integers in ms since the epoch, bytes are `bin` and text is `str` of MsgPack.
 */
import type { ErrorCode } from "./errno.ts";

export const FRAME = {
  /** ASCII `KA`. */
  magic: 0x4b41,
  version: 1,
  headerBytes: 8,
  maxPayloadBytes: 10_485_760,
  maxDepth: 64,
  /** The most entries of a map or an array. */
  maxEntries: 10_000,
} as const;

export const PACKET = { request: 1, response: 2, event: 3, chunk: 4 } as const;
export type Packet = (typeof PACKET)[keyof typeof PACKET];

export const IPC = {
  maxIdBytes: 128,
  chunkBytes: 65_536,
  openRequests: 256,
  subscriptions: 64,
  /** With so many bytes unsent no more is read from a client, and its subscriptions wait. */
  maxUnsentBytes: 8 * 1024 * 1024,
  maxCreditBytes: 16 * 1024 * 1024,
  maxLineBytes: 65_536,
  linesOfFrame: 64,
  /** While more of a program's input is queued, the answer to a write waits. */
  queuedInputBytes: 1024 * 1024,
  pingPayloadBytes: 1_024,
} as const;

export const FEATURES = [
  "events",
  "streams",
  "flow",
  "pty",
  "devices",
  "intents",
  "cancel",
  "idempotency",
  "projections",
  "ready",
] as const;
export type Feature = (typeof FEATURES)[number];

export interface Limits {
  payloadBytes: number;
  chunkBytes: number;
  openRequests: number;
  subscriptions: number;
  connections: number;
  connectionsPerProcess: number;
  spoolBytes: number;
  natives: number;
  claims: number;
}

export interface RequestMeta {
  correlationId?: string;
  causationId?: string;
  intentId?: string;
  idempotencyKey?: string;
  timeoutMs?: number;
  traceparent?: string;
}

/** The structured error of a response; `message` equals its `error`. */
export interface IpcFault {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  retryAfterMs?: number;
  details?: object;
  syscall?: string;
  device?: string;
}

export interface IpcResponse {
  id: string;
  result: unknown;
  error?: string;
  fault?: IpcFault;
  meta?: { requestId: string; replayed?: true };
}

export interface IpcEvent {
  event: string;
  seq: number;
  at: number;
  subscription?: string;
  pid?: number;
  id?: string;
  intentId?: string;
  correlationId?: string;
  causationId?: string;
  data: object;
}

/** `offset` is the position of the first byte in the stream, `next` the one after the last. */
export interface IpcChunk {
  stream: string;
  event: string;
  seq: number;
  offset: number;
  next: number;
  pid?: number;
  id?: string;
  data?: Uint8Array;
  lines?: string[];
  /** The last line is a piece of a longer one. */
  partial?: true;
  /** These bytes were dropped before the reader came to them. */
  gap?: { from: number; to: number };
  end?: true;
}
