/**
 * The system calls of user space: every effect of a program is one of these calls, and each passes the gate.
 * A handle is bound to one process; the caller's pid is never an argument. It is revoked when the process leaves
 * `running`: every later call is CANCELLED. Every call that waits takes an AbortSignal; an abort gives CANCELLED.
 * Errors: SyscallError, VfsError, ContextError with a code of errno.ts.
 */
import type { AgentInfo, AgentMap } from "./agent.ts";
import type { Budget } from "./budget.ts";
import type { CallNote } from "./call-note.ts";
import type { ChildMark, Ended } from "./child.ts";
import type {
  ContextMove,
  Measures,
  PinBounds,
  UndoBounds,
  ViewOutcome,
  ViewRequest,
  ViewState,
} from "./context.ts";
import type { FileStat, OpenFlag } from "./device.ts";
import type { ForkOffer, ForkPrefix, ForkWish } from "./fork.ts";
import type { CoId, CtxId, Fd, Pgid, Pid, ProcUuid, Tid } from "./ids.ts";
import type { Block, Effort, Reply } from "./llm.ts";
import type { ApiRetry, ModelSwitch, Terminal } from "./loop.ts";
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
import type { AccountView, ChosenModel, RunInput } from "./program.ts";
import type { RequestMark } from "./request-mark.ts";
import type { RightsWish } from "./rights.ts";
import type { SupervisorSpec } from "./supervise.ts";
import type { Nearby, Surroundings } from "./surroundings.ts";
import type { MediaPart } from "./tool.ts";

export interface SpawnOpts {
  /** "": the agent file decides, then the driver. */
  readonly model?: string;
  /** How much the model is asked to think. Absent: the agent file decides, then the parent, then the settings. */
  readonly effort?: Effort;
  /** Models that answer, in order, when the model cannot; absent: the agent file's, then the setting's. */
  readonly fallbackModels?: readonly string[];
  /** Added after the instructions of the agent. */
  readonly systemPrompt?: string;
  /** In place of the instructions of the agent. */
  readonly instructions?: string;
  /** Step limit; 0 or absent: the agent file's, else DEFAULT_MAX_STEPS. */
  readonly maxTurns?: number;
  /** Wall-clock limit from the start; 0: no limit. */
  readonly timeoutMs?: number;
  /** Only pid 0 may name a parent other than itself. */
  readonly parentPid?: Pid;
  /** Tokens; 0 or absent: the agent file's, else unlimited; negative counts as 0. */
  readonly contextBudget?: number;
  /** More limits for it and all its descendants; they never exceed what the parent has left. */
  readonly budget?: Budget;
  /** Absolute host path; absent: the parent's, for pid 0 the home directory. */
  readonly cwd?: string;
  /** More directories that it works in, absolute; its children have them too. Only pid 0 may give some. */
  readonly dirs?: readonly string[];
  /** An agent works in a git worktree of this name, apart from the checkout at `cwd`; "": Crux names it. */
  readonly worktree?: string;
  /** More agents, for it and all below it. Only pid 0 may give some. */
  readonly agents?: AgentMap;
  /** Absent: the parent's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Capped by the parent's mode. Absent: an agent started by an agent gets `accept_edits`, likewise capped. */
  readonly permissionMode?: PermissionMode;
  /** Starts in plan mode, and returns to the mode it would otherwise have started in. */
  readonly plan?: boolean;
  /** Rights in addition to those of the definition. Only pid 0 may `allow` what the parent may not do. */
  readonly rights?: RightsWish;
  /** A client that can answer questions is attached. */
  readonly interactive?: boolean;
  /** Default: `reparent` for agents and supervisors, `terminate` for natives. */
  readonly onParentExit?: "reparent" | "terminate";
  /**
   * argv of a host program: the process is of kind `native`. With an agent: INVALID. An empty intent is the command.
   */
  readonly command?: readonly string[];
  readonly options?: NativeOptions;
  /** The name of a group to join before the first step; created if it does not exist. */
  readonly group?: string;
  /**
   * fd 0 of the child. An fd of the caller is moved to the child: the caller loses it. Bytes are read like a file; at
   * most 10 MiB. An agent reads fd 0 to the end before its first step, and gets it as a second user message.
   */
  readonly stdin?: Fd | Uint8Array;
  /** fd 1 of the child, moved like `stdin`: receives the output of a native, or the result of an agent. */
  readonly stdout?: Fd;
  /** A session: it waits for the user's next message instead of ending. With an empty intent it waits at once. */
  readonly session?: boolean;
  /** Pictures that an agent is shown with its intent, within the bounds of PICTURES. Only pid 0 may give some. */
  readonly media?: readonly MediaPart[];
  /** Its uuid, which nothing else has or had. Only pid 0 may choose one. */
  readonly uuid?: ProcUuid;
  /** For a session: the client that sent the intent. */
  readonly client?: string;
  /** For an agent that a call of a model starts. */
  readonly child?: ChildMark;
  /**
   * The child continues the conversation of the caller, an agent, whose agent file, servers and model it has; the intent is
   * the message that follows. It ends with its parent. With `child` it is one that a call of the caller's model starts: it
   * has the rights and the mode of the caller, and UNAVAILABLE: the program has offered nothing for that call, or there are no
   * forks here. Without it it is an internal one, which is not restored; UNAVAILABLE: two of the caller's run already.
   * PERMISSION: the caller is a fork itself.
   */
  readonly fork?: ForkWish;
  /** The mark of the client's request that caused this call; stored in the record of the spawn. */
  readonly request?: RequestMark;
}

/** The sequence number of a durable message, and its position in the queue. */
export interface Sent {
  readonly seq: number;
  /** The runs and messages that the receiver handles before it; 0: it is next. */
  readonly ahead: number;
}

interface SendOptions {
  /** The client of the user that sends it, where several are attached to one process. */
  readonly client?: string;
  /** Pictures in the message, within the bounds of PICTURES (INVALID). Only pid 0 may send some. */
  readonly media?: readonly MediaPart[];
  /** As in a message. */
  readonly maxSteps?: number;
  /** The mark of the client's request that caused this call; stored in the record of the message. */
  readonly request?: RequestMark;
}

/** What a program may add to a message of its own. */
export interface OwnSendOptions extends SendOptions {
  /**
   * A position as for `checkpoint`, recorded together with the message: a later daemon has both or neither. An agent that has
   * ended does not come back for such a message.
   */
  readonly withCheckpoint?: unknown;
}

export interface RecvOptions {
  readonly timeoutMs?: number;
  /** Rejects with CANCELLED when the user asks something of the context: `viewRequest` has it. */
  readonly orViewRequest?: boolean;
  /** Receives only messages of this client and of other processes; those of other clients stay queued. Absent: all. */
  readonly client?: string;
}

/** What ended a sleep. */
export type Woken = "timer" | "message" | "signal" | "exit" | "detached";

/** The result of one resume of a coroutine. */
export type CoroutineStep<O, R> =
  | { readonly done: false; readonly value: O }
  | { readonly done: true; readonly value: R };

export interface CoroutineHandle<I, O> {
  /**
   * Returns `value` to the caller of the resume, and waits for the next resume. Rejects when the coroutine is
   * cancelled.
   */
  yield(value: O): Promise<I>;
  readonly signal: AbortSignal;
}

/**
 * A coroutine that reasons: a loop of the process with a conversation of its own. Each resume gives it a text, and it
 * yields its answer.
 */
export interface CoroutineLoop {
  /** Its task: the beginning of its first message. */
  readonly intent: string;
  /** The most steps for each answer; 0 or absent: the limit of the process. */
  readonly maxTurns?: number;
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
  /** Only on messages of the user and tool results: images and documents for the model, placed after the text. */
  readonly media?: readonly MediaPart[];
  /** Only on assistant messages: what the model sent, byte for byte. */
  readonly blocks?: readonly Block[];
}

export interface Prompt {
  readonly systemPrompt: string;
  readonly messages: readonly ContextMessage[];
}

export interface ProcPage {
  readonly after?: Pid;
  readonly limit?: number;
  /** Only agents that work for the caller in the background. */
  readonly working?: true;
}

/** The calls that pass the gate, once each, except getPid. Tools, natives and wires use these. */
export interface Syscalls {
  getPid(): Pid;

  /**
   * An agent given by its name is loaded as the caller would find it. Without a model of its own it has that of the
   * caller, and without a step limit one of 200.
   */
  spawn(intent: string, agent: AgentInfo | string | null, opts?: SpawnOpts): Promise<Pid>;
  /** No-op on a zombie or dead process. */
  kill(pid: Pid, signal: Signal): Promise<void>;
  /** Waits for the end of the process, reaps it, and returns its status. */
  wait(pid: Pid, signal?: AbortSignal): Promise<ExitStatus>;
  /**
   * How a descendant ended, even if it was reaped or ended under an earlier daemon; null: it has not ended. NOT_FOUND:
   * there is no such process, or it is not below the caller. `isTold`: an unread notice of its end is dropped, because the
   * caller tells it. `isSettled`: of a process that was reaped, waits until its worktree is kept or removed.
   */
  ended(
    pid: Pid,
    options?: { readonly isTold?: boolean; readonly isSettled?: boolean },
  ): Promise<Ended | null>;
  /**
   * Makes a child that a call started one of the background: whoever waits for it stops waiting, and its end is told by a
   * message. False: it has ended already.
   */
  detach(pid: Pid): Promise<boolean>;
  /** By rising pid; with a page, those after `after` and at most `limit`. */
  listProcs(page?: ProcPage): Promise<ProcInfo[]>;
  exit(code: number, reason?: string): Promise<never>;
  reap(pid: Pid): Promise<void>;

  /**
   * Like kill(), but returns what the signal did. It has taken effect and is recorded when this resolves; UNAVAILABLE:
   * not recorded.
   */
  signal(pid: Pid, signal: Signal): Promise<Disposition>;
  /**
   * A blocked signal stays pending, once, however often it is sent. After `forMs` the signal is taken as by default
   * again. KILL: INVALID. A tool may do this to its own process only, for at most two minutes, and must declare it
   * (PERMISSION).
   */
  sigBlock(pid: Pid, signal: Signal, forMs?: number): Promise<void>;
  /** Delivers the pending signal, and runs its handler, before it returns. */
  sigUnblock(pid: Pid, signal: Signal): Promise<void>;
  /** Sets an action of the caller itself. Limits, and `forMs`, as for sigBlock; a tool cannot set a function. */
  sigHandle(signal: Signal, action: SignalAction, forMs?: number): Promise<void>;

  /**
   * Creates the group on first use; 0: a new group without a name. Idempotent. PERMISSION: only pid 0, the creator, a
   * member, and the ancestors and descendants of members may add a process to an existing group. UNAVAILABLE: 16
   * groups, or 1,024 members.
   */
  joinGroup(pid: Pid, group: Pgid | string): Promise<Pgid>;
  /** NOT_FOUND: no such group, or not a member. */
  leaveGroup(pid: Pid, group: Pgid | string): Promise<void>;
  /** Members by rising pid, limited to those the caller sees; the creator sees all. */
  getProcGroup(group: Pgid | string): Promise<Pid[]>;
  /** Signals the present members; returns how many were reached. PERMISSION: only the creator and pid 0. */
  signalGroup(group: Pgid | string, signal: Signal): Promise<number>;

  /**
   * Resolves when the message is durable. At most 256 KiB (INVALID). A mailbox holds 1,024 messages and 16 MiB; if it
   * is full: UNAVAILABLE, nothing is stored. NOT_FOUND: no such process, or it has ended. PERMISSION: it is neither an
   * ancestor nor a descendant, and in no group with the caller. Once the message is being written to disk, `signal` no longer
   * cancels it.
   */
  send(target: Pid, data: Uint8Array, signal?: AbortSignal, options?: SendOptions): Promise<Sent>;
  /**
   * The oldest message; waits if none is queued. `timeoutMs` 0: TIMEOUT instead of waiting. Absent: waits without
   * limit.
   */
  recv(options?: RecvOptions, signal?: AbortSignal): Promise<Message>;
  /**
   * Sleeps until the time is over (at most an hour: INVALID), a message is queued, or a signal was handled that does
   * not end the caller. With a pid: until that process ends or is detached, or the time is over. Reads no message.
   */
  sleep(ms: number, signal?: AbortSignal, options?: { pid?: Pid }): Promise<Woken>;
  /** A byte pipe between two processes, 64 KiB; each fd is in its own process's table. The caller must control both. */
  pipe(writer: Pid, reader: Pid): Promise<{ writeFd: Fd; readFd: Fd }>;

  /**
   * A second loop in this process: it shares context, fds, rights and account. UNAVAILABLE: 32 threads not joined yet.
   */
  spawnThread(intent: string, opts?: { maxTurns?: number }): Promise<Tid>;
  /** A failure of the thread is returned as `err`. NOT_FOUND: no such thread, or it was already joined. */
  joinThread(tid: Tid, signal?: AbortSignal): Promise<{ result: string; err?: Error }>;
  /** Idempotent. */
  cancelThread(tid: Tid): Promise<void>;
  listThreads(): Promise<ThreadView[]>;
  /**
   * The body starts at the first resume. UNAVAILABLE: 64 coroutines. A tool may only start a loop: a function of its own
   * would outlast its call (INVALID).
   */
  spawnCoroutine<I, O, R>(
    body: ((co: CoroutineHandle<I, O>, first: I) => Promise<R>) | CoroutineLoop,
  ): Promise<CoId>;
  /**
   * CONFLICT: it is running; INVALID: it has ended. Rejects with what the body throws. After an abort of `signal` the
   * coroutine runs on, and the next value it yields is dropped.
   */
  resumeCoroutine<I, O, R>(id: CoId, value: I, signal?: AbortSignal): Promise<CoroutineStep<O, R>>;
  /** Idempotent. */
  cancelCoroutine(id: CoId): Promise<void>;

  /**
   * Rejects with the error of the first child that fails to start; no process is left then. INVALID: names the field.
   */
  spawnSupervisor(spec: SupervisorSpec, opts?: { parentPid?: Pid }): Promise<Pid>;

  /**
   * Returns within 500 ms. CONFLICT: path in use; INVALID: not below /mnt/mcp/; UNAVAILABLE: 64 mounts, or the server
   * cannot start.
   */
  mount(path: string, config: McpConfig, signal?: AbortSignal): Promise<{ path: string; state: McpState }>;
  unmount(path: string): Promise<void>;
  /** Only pid 0. */
  unmountAll(): Promise<void>;

  open(path: string, flags: OpenFlag, signal?: AbortSignal): Promise<Fd>;
  read(fd: Fd, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  write(fd: Fd, data: Uint8Array, signal?: AbortSignal): Promise<void>;
  close(fd: Fd): Promise<void>;
  /** Needs no open file. For a host file, it counts as a read of the file. */
  stat(path: string, signal?: AbortSignal): Promise<FileStat>;

  ctxAlloc(size: number): Promise<CtxId>;
  ctxRead(cid: CtxId, offset: number, length: number): Promise<Uint8Array>;
  ctxWrite(cid: CtxId, offset: number, data: Uint8Array): Promise<void>;
  ctxFree(cid: CtxId): Promise<void>;
  setSystemPrompt(cid: CtxId, text: string): Promise<void>;
  /** `blocks` only with role assistant, `media` only with role user. */
  appendMessage(
    cid: CtxId,
    role: Role,
    content: string,
    blocks?: readonly Block[],
    media?: readonly MediaPart[],
  ): Promise<void>;
  /** INVALID: over 900,000 characters of text, or 8 MiB of images and documents. */
  appendToolResult(
    cid: CtxId,
    toolCallId: string,
    content: string,
    isError?: boolean,
    media?: readonly MediaPart[],
  ): Promise<void>;
  buildPrompt(cid: CtxId): Promise<Prompt>;
  /** Which messages the view shows. */
  ctxView(cid: CtxId): Promise<ViewState>;
  /**
   * Moves the view of an own context, and returns the number of the move. CONFLICT: the view has moved since `from`.
   * INVALID: it would tear a call from its result, show what is not in view, or bring back what was cleared.
   */
  ctxMove(cid: CtxId, move: ContextMove): Promise<number>;
  /**
   * Goes back to the view before the present one, with all messages added since. NOT_FOUND: there is none. CONFLICT: the
   * view has moved, or would exceed the bounds.
   */
  ctxUndo(cid: CtxId, from: number, bounds?: UndoBounds): Promise<number>;
  /**
   * Every later view keeps this message, with its whole pair, and no layer clears it. NOT_FOUND: it is not in view. BUDGET:
   * beyond the bounds, or 64 pins.
   */
  ctxPin(cid: CtxId, n: number, bounds: PinBounds): Promise<void>;
  /** NOT_FOUND: it is not pinned. */
  ctxUnpin(cid: CtxId, n: number): Promise<void>;

  /** The same for the life of the process in this daemon. */
  surroundings(signal?: AbortSignal): Promise<Surroundings>;
  /** What guides it in these folders, absolute paths below its working directory, and in those on the way there. */
  nearby(dirs: readonly string[], signal?: AbortSignal): Promise<Nearby>;
}

/**
 * The handle of a program, its only way to act. The calls it has beside the system calls concern only its own process,
 * so they are neither permitted nor traced, and have no effect after the end of the process.
 */
export interface Sys extends Syscalls {
  /** Fires when the program must end, or the run or thread that owns this handle: at TERM, INT, KILL, timeout. */
  readonly ending: AbortSignal;

  /** Reports that step `step` of the run begins. */
  onStep(step: number): void;
  /** For attached clients: text of the model beside its calls, and calls that reached no file. */
  said(text: string): void;
  called(call: CallNote): void;
  /** For clients that follow the messages: a whole reply that the program goes on with. */
  replied(reply: Reply): void;
  /** For attached clients and the log: a model call will be sent again; another model takes over. */
  retries(retry: ApiRetry): void;
  switches(change: ModelSwitch): void;
  setActivity(activity: Activity): void;
  /** Sets the preliminary result; the last value becomes the result of the process. */
  setResult(text: string): void;
  log(level: "info" | "warn" | "error", message: string): void;

  /** Whether a message for this run can be received without waiting. */
  hasMail(): boolean;
  isPaused(): boolean;
  /** Waits while the process is paused; rejects when it ends. */
  waitIfPaused(): Promise<void>;
  /** The mode, if the model has to know it: `auto`, `plan /path/of/the/plan.md`, or "". */
  standing(): string;
  account(): AccountView;
  /**
   * Whether it may spend on a task of its own accord: no limit of tokens, money, steps or time applies to it, it has
   * read nothing that is labelled, a client that could answer is there, and a model answers it that could do such a task.
   */
  mayDoAside(): boolean;
  /** The model that the user has chosen last; null: none. Reading it makes it the model of the process. */
  chosenModel(): ChosenModel | null;
  /** Whether the user asks something of the context that is not answered yet. */
  hasViewRequest(): boolean;
  /** What the user asks; null: it was withdrawn. */
  viewRequest(): Promise<{ readonly id: number; readonly request: ViewRequest } | null>;
  viewAnswer(id: number, outcome: ViewOutcome): void;
  /** What forks that calls of a reply start begin with, while these calls run; null: they have ended. */
  offerFork(offer: ForkOffer | null): void;
  /** What its next request begins with, for a fork that answers a question of the user beside the conversation. */
  offerAside(prefix: ForkPrefix): void;
  /** Wall clock, milliseconds since the epoch: for display only. */
  now(): number;
  /** Monotonic milliseconds with a fraction: for every interval. */
  mono(): number;
  /** The local date, `2026-01-05`: for display and for models. */
  today(): string;
  /** A random number, 0 … 1, for jitter. */
  random(): number;
  /**
   * Called while a write to the file is in progress: true as soon as a part of the answer can be read; false once the
   * write is over, or `signal` fires.
   */
  ahead(fd: Fd, signal: AbortSignal): Promise<boolean>;
  /** Resolves after `ms`, even if messages arrive, or rejects with the signal's reason. */
  delay(ms: number, signal?: AbortSignal): Promise<void>;

  /**
   * Records the position of the program (plain data, at most 1 MiB), so that it can resume there in another daemon.
   * Does not wait; durable before the next effect, and at once while the process is paused.
   */
  checkpoint(state: unknown): void;
  send(target: Pid, data: Uint8Array, signal?: AbortSignal, options?: OwnSendOptions): Promise<Sent>;
  /** Records what of the measures of its requests has changed, for screens. `reported`: the tokens of the last reply. */
  measured(change: Measures): void;
  /** Adds a part to the last checkpoint, so that nothing has to be written twice. */
  addToCheckpoint(part: unknown): void;
  /** Runs `act` exclusively among the threads of this process; its context changes are one unit. Keep it short. */
  unit<T>(act: () => Promise<T>): Promise<T>;

  /**
   * Only for sessions, like the calls below. Starts a run and returns its handle: INT ends the run and not the process,
   * and the run receives only messages of its client and of other processes. `isNew`: clients were not notified of the
   * run yet.
   */
  beginRun(input: RunInput, isNew: boolean): Sys;
  /** Reports that the current run has also read this message. */
  joinRun(input: RunInput): void;
  /** Whether the message is still in the mailbox. */
  isQueued(seq: number): boolean;
  reply(text: string): void;
  /**
   * Resolves when the end of the run is durable and reported. `exit`: the status that a process with one run would end
   * with.
   */
  endRun(reason: Terminal["reason"], exit: ExitStatus): Promise<void>;
}
