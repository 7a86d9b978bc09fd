/**
 * The handle of user space: every effect of a program is one of these calls, and each passes the gate.
 * Bound to one process; the caller's pid is never an argument. Revoked when the process leaves `running`:
 * every later call is CANCELLED. Every call that waits takes an AbortSignal; abort gives CANCELLED.
 * Errors: SyscallError, VfsError, ContextError with a code of errno.ts.
 */
import type { AgentInfo } from "./agent.ts";
import type { FileStat, OpenFlag } from "./device.ts";
import type { CtxId, Fd, Pid } from "./ids.ts";
import type { Block } from "./llm.ts";
import type { ExitStatus, PermissionMode, ProcInfo, Signal } from "./process.ts";

export interface SpawnOpts {
  /** "" lets the agent file, then the driver decide. */
  readonly model?: string;
  readonly systemPrompt?: string;
  /** Step limit; 0 or absent: the agent file's, else DEFAULT_MAX_STEPS. */
  readonly maxTurns?: number;
  /** Wall clock from start; 0 none. */
  readonly timeoutMs?: number;
  /** Only pid 0 may name another parent. */
  readonly parentPid?: Pid;
  /** Tokens; 0 or absent: the agent file's, else unlimited; negative counts as 0. */
  readonly contextBudget?: number;
  /** Absolute host path; absent: the parent's, for pid 0 the home directory. */
  readonly cwd?: string;
  /** Absent: the parent's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Capped by the parent's. */
  readonly permissionMode?: PermissionMode;
  /** A client that can answer questions is attached. */
  readonly interactive?: boolean;
  readonly onParentExit?: "reparent" | "terminate";
}

export type Role = "system" | "user" | "assistant" | "tool";

/** One message of a context. `content` is its text; an assistant reply keeps its exact blocks beside it. */
export interface ContextMessage {
  readonly role: Role;
  readonly content: string;
  /** Only on tool results. */
  readonly tool_call_id?: string;
  readonly is_error?: boolean;
  /** Only on assistant messages: what the model sent, byte for byte. */
  readonly blocks?: readonly Block[];
}

export interface Prompt {
  readonly systemPrompt: string;
  readonly messages: readonly ContextMessage[];
}

export interface Sys {
  getPid(): Pid;
  spawn(intent: string, agent: AgentInfo | null, opts?: SpawnOpts): Promise<Pid>;
  /** No-op on a zombie or dead process. */
  kill(pid: Pid, signal: Signal): Promise<void>;
  /** Waits for the end, reaps, gives the status. */
  wait(pid: Pid, signal?: AbortSignal): Promise<ExitStatus>;
  listProcs(): Promise<ProcInfo[]>;
  exit(code: number, reason?: string): Promise<never>;
  reap(pid: Pid): Promise<void>;

  open(path: string, flags: OpenFlag, signal?: AbortSignal): Promise<Fd>;
  read(fd: Fd, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  write(fd: Fd, data: Uint8Array, signal?: AbortSignal): Promise<void>;
  close(fd: Fd): Promise<void>;
  stat(path: string): Promise<FileStat>;

  ctxAlloc(size: number): Promise<CtxId>;
  ctxRead(cid: CtxId, offset: number, length: number): Promise<Uint8Array>;
  ctxWrite(cid: CtxId, offset: number, data: Uint8Array): Promise<void>;
  ctxFree(cid: CtxId): Promise<void>;
  setSystemPrompt(cid: CtxId, text: string): Promise<void>;
  /** `blocks` only with role assistant. */
  appendMessage(cid: CtxId, role: Role, content: string, blocks?: readonly Block[]): Promise<void>;
  appendToolResult(cid: CtxId, toolCallId: string, content: string, isError?: boolean): Promise<void>;
  buildPrompt(cid: CtxId): Promise<Prompt>;
}
