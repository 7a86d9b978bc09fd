/**
 * The documented error classes. `message` is the cause in plain words, without code and place; `printed()` adds those.
 * A fault throws one of these; a bug throws anything else and counts as INTERNAL.
 */
import type { ErrorCode } from "./errno.ts";
import type { Fact } from "./fact.ts";
import type { CtxId, Pid } from "./ids.ts";

interface FaultFields {
  code: ErrorCode;
  /** The cause in plain words; becomes `message`. */
  message: string;
  /** The path of the device that failed. */
  device?: string | undefined;
  /** What to do next, in one line that suits the user and a model alike: it names no command of a client. */
  hint?: string | undefined;
  /** The fact from which a client derives what to do next. */
  fact?: Fact | undefined;
  /** Details that a program may act on, as plain data. */
  details?: object | undefined;
  cause?: unknown;
}

/** What every documented error has in common. Not thrown itself outside `lib`-like code that knows no operation. */
export class Fault extends Error {
  readonly code: ErrorCode;
  readonly device: string | undefined;
  readonly hint: string | undefined;
  readonly fact: Fact | undefined;
  readonly details?: object;
  constructor(fields: FaultFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = new.target.name;
    this.code = fields.code;
    this.device = fields.device;
    this.hint = fields.hint;
    this.fact = fields.fact;
    if (fields.details !== undefined) this.details = fields.details;
  }
  /** The place as printed between the code and the cause: `PID 1 Open`. Empty if there is no place. */
  place(): string {
    return "";
  }
}

/** A kernel call that failed. `pid` is the caller (0 for clients); for Spawn the new process. */
export class SyscallError extends Fault {
  readonly syscall: string;
  readonly pid: Pid;
  constructor(fields: FaultFields & { syscall: string; pid: Pid }) {
    super(fields);
    this.syscall = fields.syscall;
    this.pid = fields.pid;
  }
  override place(): string {
    return `PID ${this.pid} ${this.syscall}`;
  }
}

/** A file call that failed. */
export class VfsError extends Fault {
  readonly op: string;
  readonly pid: Pid;
  constructor(fields: FaultFields & { op: string; pid: Pid }) {
    super(fields);
    this.op = fields.op;
    this.pid = fields.pid;
  }
  override place(): string {
    return `PID ${this.pid} ${this.op}`;
  }
}

/** What a device throws; it knows no process. The VFS wraps it and keeps its code. */
export class DriverError extends Fault {
  readonly op: string;
  constructor(fields: FaultFields & { op: string }) {
    super(fields);
    this.op = fields.op;
  }
  override place(): string {
    return this.op;
  }
}

/**
 * Thrown by a device when its source gave nothing: no such file, no answer. The message is Crux's own or the host's,
 * never text of a page or a server.
 */
export class UnreadError extends DriverError {}

/** A context call that failed. */
export class ContextError extends Fault {
  readonly op: string;
  readonly cid: CtxId;
  constructor(fields: FaultFields & { op: string; cid: CtxId }) {
    super(fields);
    this.op = fields.op;
    this.cid = fields.cid;
  }
  override place(): string {
    return `CtxID ${this.cid} ${this.op}`;
  }
}

/** `[TIMEOUT] PID 1 Spawn: /dev/llm/claude (context deadline exceeded)`; without a device the cause stands bare. */
export function printed(error: unknown): string {
  if (!(error instanceof Fault)) return `[${codeOf(error)}] ${messageOf(error)}`;
  const place = error.place();
  const where = place === "" ? "" : `${place}: `;
  const what = error.device === undefined ? error.message : `${error.device} (${error.message})`;
  return `[${error.code}] ${where}${what}`;
}

/** The code of an error: its own, CANCELLED for an abort, else the first in its chain of causes, else INTERNAL. */
export function codeOf(error: unknown): ErrorCode {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 8; e = e.cause, depth++) {
    if (e instanceof Fault) return e.code;
    if (e.name === "AbortError") return "CANCELLED";
    if (e.name === "TimeoutError") return "TIMEOUT";
  }
  return "INTERNAL";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The fact of an error: its own, else the first in its chain of causes. */
export function factOf(error: unknown): Fact | undefined {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 8; e = e.cause, depth++) {
    if (e instanceof Fault && e.fact !== undefined) return e.fact;
  }
  return undefined;
}

/**
 * An error on the text wire. `pid` and `hint` are for display, `fact` is for clients that word the next step
 * themselves.
 */
export interface WireError {
  code: ErrorCode;
  message: string;
  syscall?: string;
  device?: string;
  retryable?: boolean;
  pid?: number;
  hint?: string;
  fact?: Fact;
  details?: object;
}

/** The `details` of the error of a malformed call: the tool does not accept the arguments, and nothing was done. */
export const MALFORMED_CALL = { malformed: true } as const;

/** Also finds the error of the device if it is wrapped. */
export function isMalformedCall(error: unknown): boolean {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 8; e = e.cause, depth++) {
    if (e instanceof Fault && (e.details as Partial<typeof MALFORMED_CALL> | undefined)?.malformed)
      return true;
  }
  return false;
}
