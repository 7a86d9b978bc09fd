/**
 * The handle of user space: every effect of a program is one of these calls, and each passes the gate.
 * Bound to one process; the caller's pid is never an argument. Revoked when the process leaves `running`:
 * every later call is CANCELLED. Every call that waits takes an AbortSignal; abort gives CANCELLED.
 * Errors: SyscallError, VfsError, ContextError with a code of errno.ts.
 */
import type { AgentInfo } from "./agent.ts";
import type { Budget } from "./budget.ts";
import type { CallNote } from "./call-note.ts";
import type { FileStat, OpenFlag } from "./device.ts";
import type { RunOutcome } from "./events.ts";
import type { CoId, CtxId, Fd, Pgid, Pid, Tid } from "./ids.ts";
import type { Block } from "./llm.ts";
import type { Message } from "./mail.ts";
import type { McpConfig, McpState } from "./mcp.ts";
import type { NativeOptions } from "./native.ts";
import type {
  Activity,
  Disposition,
  ExitStatus,
  PermissionMode,
  ProcessState,
  ProcInfo,
  Signal,
  SignalAction,
} from "./process.ts";
import type { AccountView, RunInput } from "./program.ts";
import type { RequestMark } from "./request-mark.ts";
import type { RightsWish } from "./rights.ts";
import type { SupervisorSpec } from "./supervise.ts";
import type { MediaPart } from "./tool.ts";

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
  /** More limits of it and of all below it; what its parent has left is never passed. */
  readonly budget?: Budget;
  /** Absolute host path; absent: the parent's, for pid 0 the home directory. */
  readonly cwd?: string;
  /** Absent: the parent's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Capped by the parent's. Absent: of an agent that an agent starts `accept_edits`, likewise capped. */
  readonly permissionMode?: PermissionMode;
  /** It begins in mode plan, and goes back to the mode it would have begun in. */
  readonly plan?: boolean;
  /** Beside what the definition says. Only pid 0 may `allow` what the parent may not. */
  readonly rights?: RightsWish;
  /** A client that can answer questions is attached. */
  readonly interactive?: boolean;
  /** Default: `reparent` for agents and supervisors, `terminate` for natives. */
  readonly onParentExit?: "reparent" | "terminate";
  /** argv of a host program: the process is of kind `native`. With an agent: INVALID. An empty intent is the command. */
  readonly command?: readonly string[];
  readonly options?: NativeOptions;
  /** A group to join before the first step; by name, made where there is none. */
  readonly group?: string;
  /**
   * fd 0 of the child. An fd of the caller is handed over: it is the caller's no more. Bytes are read as a file would be.
   * An agent reads it to the end before its first step and gets it as a second user message. Bytes: at most 10 MiB.
   */
  readonly stdin?: Fd | Uint8Array;
  /** fd 1 of the child, handed over like stdin: a native's output, an agent's result. */
  readonly stdout?: Fd;
  /** A person talks to it: it waits for the next message instead of ending. The intent may be empty then: it waits at once. */
  readonly session?: boolean;
  /** Of a session: whose message the intent is. */
  readonly client?: string;
  /** Of the client's request that this is: kept in the record of the spawn. */
  readonly request?: RequestMark;
}

/** A message that is durable, and its place. */
export interface Sent {
  readonly seq: number;
  /** What its receiver does and reads before it; 0: it is next. */
  readonly ahead: number;
}

export interface SendOptions {
  /** Of the user, where several talk to one process. */
  readonly client?: string;
  /** Of the client's request that this is: kept in the record of the message. */
  readonly request?: RequestMark;
}

export interface RecvOptions {
  readonly timeoutMs?: number;
  /** Only what this client of the user says, and other processes; what others say stays. Absent: all. */
  readonly client?: string;
}

/** What ended a sleep. */
export type Woken = "timer" | "message" | "signal" | "exit";

/** What comes back from a coroutine each time it runs. */
export type CoroutineStep<O, R> =
  | { readonly done: false; readonly value: O }
  | { readonly done: true; readonly value: R };

export interface CoroutineHandle<I, O> {
  /** Hands `value` to who resumed, and waits for the next resume. Rejects when the coroutine is cancelled. */
  yield(value: O): Promise<I>;
  readonly signal: AbortSignal;
}

export interface ThreadView {
  readonly tid: Tid;
  readonly intent: string;
  readonly state: ProcessState;
}

export type Role = "system" | "user" | "assistant" | "tool";

/** One message of a context. `content` is its text; an assistant reply keeps its exact blocks beside it. */
export interface ContextMessage {
  readonly role: Role;
  readonly content: string;
  /** Only on tool results. */
  readonly tool_call_id?: string;
  readonly is_error?: boolean;
  /** Only on tool results: what the model looks at, after the text. */
  readonly media?: readonly MediaPart[];
  /** Only on assistant messages: what the model sent, byte for byte. */
  readonly blocks?: readonly Block[];
}

export interface Prompt {
  readonly systemPrompt: string;
  readonly messages: readonly ContextMessage[];
}

/** What passes the gate, once each, but for getPid. Tools, natives and wires hold these. */
export interface Syscalls {
  getPid(): Pid;

  spawn(intent: string, agent: AgentInfo | null, opts?: SpawnOpts): Promise<Pid>;
  /** No-op on a zombie or dead process. */
  kill(pid: Pid, signal: Signal): Promise<void>;
  /** Waits for the end, reaps, gives the status. */
  wait(pid: Pid, signal?: AbortSignal): Promise<ExitStatus>;
  listProcs(): Promise<ProcInfo[]>;
  exit(code: number, reason?: string): Promise<never>;
  reap(pid: Pid): Promise<void>;

  /** kill() that tells what the signal met. It has acted at once, and is recorded when this resolves; UNAVAILABLE: not recorded. */
  signal(pid: Pid, signal: Signal): Promise<Disposition>;
  /**
   * Of the caller itself. To lower it is free and binds its living descendants; to raise it asks a person. PERMISSION: above
   * its ceiling, or the person said no.
   */
  setMode(mode: PermissionMode): Promise<void>;
  /** A blocked signal stays pending, once, however often it is sent. KILL: INVALID. Within a tool's call: PERMISSION. */
  sigBlock(pid: Pid, signal: Signal): Promise<void>;
  /** Delivers what is pending before it returns, handlers included. */
  sigUnblock(pid: Pid, signal: Signal): Promise<void>;
  /** For the caller itself. KILL: INVALID. */
  sigHandle(signal: Signal, action: SignalAction): Promise<void>;

  /**
   * Made on first use; 0: a new one without a name. Idempotent. PERMISSION: into a group that is there only pid 0, its maker,
   * and who is a member, or the ancestor or descendant of one, brings a process. UNAVAILABLE: 16 groups, or 1,024 members.
   */
  joinGroup(pid: Pid, group: Pgid | string): Promise<Pgid>;
  /** NOT_FOUND: no such group, or not a member. */
  leaveGroup(pid: Pid, group: Pgid | string): Promise<void>;
  /** Members by rising pid, as far as the caller sees them; its maker sees all. */
  getProcGroup(group: Pgid | string): Promise<Pid[]>;
  /** Signals who is a member at the call; the number reached. PERMISSION: only its maker and pid 0. */
  signalGroup(group: Pgid | string, signal: Signal): Promise<number>;

  /**
   * Resolves when the message is durable. At most 256 KiB (INVALID). A box holds 1,024 messages and 16 MiB; a full one:
   * UNAVAILABLE, nothing is stored. NOT_FOUND: the caller sees no such process, or it has ended. Once the message is on its
   * way to the disk, `signal` does not take it back.
   */
  send(target: Pid, data: Uint8Array, signal?: AbortSignal, options?: SendOptions): Promise<Sent>;
  /** The oldest message, waiting for one if there is none. `timeoutMs` 0: at once, or TIMEOUT. Absent: as long as it takes. */
  recv(options?: RecvOptions, signal?: AbortSignal): Promise<Message>;
  /**
   * Until the time is over (at most an hour: INVALID), a message is there, or a signal was heeded that does not end the caller.
   * With a pid: until that process ends, or the time is over. No message is taken.
   */
  sleep(ms: number, signal?: AbortSignal, options?: { pid?: Pid }): Promise<Woken>;
  /** Bytes from one process to another, 64 KiB; each fd lies in its own process's table. The caller controls both. */
  pipe(writer: Pid, reader: Pid): Promise<{ writeFd: Fd; readFd: Fd }>;

  /** A second loop in this process: it shares context, fds, rights and account. UNAVAILABLE: 32 that were not joined. */
  spawnThread(intent: string, opts?: { maxTurns?: number }): Promise<Tid>;
  /** A thread's failure is data. NOT_FOUND: no such thread, or it was joined. */
  joinThread(tid: Tid, signal?: AbortSignal): Promise<{ result: string; err?: Error }>;
  /** Idempotent. */
  cancelThread(tid: Tid): Promise<void>;
  listThreads(): Promise<ThreadView[]>;
  /** The body starts at the first resume. UNAVAILABLE: 64. */
  spawnCoroutine<I, O, R>(body: (co: CoroutineHandle<I, O>, first: I) => Promise<R>): Promise<CoId>;
  /**
   * CONFLICT: it runs; INVALID: it has ended. Rejects with what the body throws. Who gives up leaves it alone: it runs on, and
   * what it yields next is dropped.
   */
  resumeCoroutine<I, O, R>(id: CoId, value: I, signal?: AbortSignal): Promise<CoroutineStep<O, R>>;
  /** Idempotent. */
  cancelCoroutine(id: CoId): Promise<void>;

  /** Rejects with the error of the first child that does not start; then no process is left. INVALID: path of the field. */
  spawnSupervisor(spec: SupervisorSpec, opts?: { parentPid?: Pid }): Promise<Pid>;

  /** Back within 500 ms. CONFLICT: path in use; INVALID: not below /mnt/mcp/; UNAVAILABLE: 64 mounts, or it cannot start. */
  mount(path: string, config: McpConfig, signal?: AbortSignal): Promise<{ path: string; state: McpState }>;
  unmount(path: string): Promise<void>;
  /** Only pid 0. */
  unmountAll(): Promise<void>;

  open(path: string, flags: OpenFlag, signal?: AbortSignal): Promise<Fd>;
  read(fd: Fd, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  write(fd: Fd, data: Uint8Array, signal?: AbortSignal): Promise<void>;
  close(fd: Fd): Promise<void>;
  /** No open needed. What it shows of a host file is a read of it. */
  stat(path: string, signal?: AbortSignal): Promise<FileStat>;

  ctxAlloc(size: number): Promise<CtxId>;
  ctxRead(cid: CtxId, offset: number, length: number): Promise<Uint8Array>;
  ctxWrite(cid: CtxId, offset: number, data: Uint8Array): Promise<void>;
  ctxFree(cid: CtxId): Promise<void>;
  setSystemPrompt(cid: CtxId, text: string): Promise<void>;
  /** `blocks` only with role assistant. */
  appendMessage(cid: CtxId, role: Role, content: string, blocks?: readonly Block[]): Promise<void>;
  /** INVALID: over 900,000 characters of text, or 8 MiB of pictures and documents. */
  appendToolResult(
    cid: CtxId,
    toolCallId: string,
    content: string,
    isError?: boolean,
    media?: readonly MediaPart[],
  ): Promise<void>;
  buildPrompt(cid: CtxId): Promise<Prompt>;
}

/**
 * The handle of a program, its whole way out. What it has beside the system calls is of its own process: nobody else is changed
 * by it, so it is neither permitted nor traced, and after the end of the process it comes to nothing.
 */
export interface Sys extends Syscalls {
  /** Fires when the program is to end, or the run or the thread that has this handle: at TERM, INT, KILL, timeout. */
  readonly ending: AbortSignal;

  /** Step `step` of the run begins. */
  onStep(step: number): void;
  /** For who follows: words of the model beside its calls, and calls that reached no file. */
  said(text: string): void;
  called(call: CallNote): void;
  setActivity(activity: Activity): void;
  /** What the process has to say so far; the last value is its result. */
  setResult(text: string): void;
  log(level: "info" | "warn" | "error", message: string): void;

  /** A message can be received at once, if it is for this run. */
  hasMail(): boolean;
  isPaused(): boolean;
  /** Holds while the process is paused; rejects when it ends. */
  waitIfPaused(): Promise<void>;
  /** The mode, as far as the model has to know of it: `auto`, `plan /where/the/plan/is.md`, or "". */
  standing(): string;
  account(): AccountView;
  /** Wall clock, milliseconds since the epoch: for people only. */
  now(): number;
  /** Monotonic milliseconds with a fraction: for every interval. */
  mono(): number;
  /** The local day, `2026-01-05`: for people, and their models. */
  today(): string;
  /** 0 … 1, for jitter. */
  random(): number;
  /** Resolves after `ms`, whatever comes meanwhile, or rejects with the signal's reason. */
  delay(ms: number, signal?: AbortSignal): Promise<void>;

  /**
   * Notes where the program is (plain data, at most 1 MiB), so that it can go on from there in another daemon. Durable
   * before the next effect, and at once while the process is paused; without waiting.
   */
  checkpoint(state: unknown): void;
  /** The same for what came to the last checkpoint, so that nothing is written twice. */
  addToCheckpoint(part: unknown): void;
  /** Runs alone among the threads of this process: what is written to the context within is one unit. To be kept short. */
  unit<T>(act: () => Promise<T>): Promise<T>;

  /**
   * Of a session, as all that follow: a run begins. The handle of that run: INT ends it and not the process, and only the words
   * of its client and of other processes are for it. `isNew`: who follows has not heard of it.
   */
  beginRun(input: RunInput, isNew: boolean): Sys;
  /** The run reads this, too. */
  joinRun(input: RunInput): void;
  /** The message is still in the box. */
  isQueued(seq: number): boolean;
  reply(text: string): void;
  /** Resolves when what the run came to is durable and told. `exit`: what a process with one run would end with. */
  endRun(outcome: RunOutcome, exit: ExitStatus): Promise<void>;
}
