/** The words of the process model: kinds, states, activities, signals, exit status and what `ps` shows. */
import type { ChildMark } from "./child.ts";
import type { CtxId, Pgid, Pid } from "./ids.ts";
import type { Label } from "./labels.ts";
import type { Member } from "./member.ts";
import type { Worktree } from "./worktree.ts";

/** The colours that an agent file may name, in which lists on a screen show its agents. */
export const AGENT_COLORS = ["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"] as const;
export type AgentColor = (typeof AGENT_COLORS)[number];

export const PROCESS_KINDS = ["agent", "native", "service", "supervisor"] as const;
export type ProcessKind = (typeof PROCESS_KINDS)[number];

/** The order gives their numbers, 0 … 3. */
export const PROCESS_STATES = ["created", "running", "zombie", "dead"] as const;
export type ProcessState = (typeof PROCESS_STATES)[number];

/** What a running process is doing. `blocked`: it waits for an answer of the user. */
/** `idle`: a member of a team that has nothing to do. */
export type Activity = "thinking" | "tool" | "waiting" | "idle" | "blocked" | "paused";

/** Why a process is paused: a signal, a crash of its daemon, a damaged history, or a disk that is not writable. */
export const HOLDS = ["signal", "crash", "damage", "disk"] as const;
export type Hold = (typeof HOLDS)[number];

export const SIGNALS = { SIGTERM: 1, SIGKILL: 2, SIGINT: 3, SIGPAUSE: 4, SIGRESUME: 5 } as const;
type SignalName = keyof typeof SIGNALS;
export type Signal = (typeof SIGNALS)[SignalName];

/** What a signal did: the default action, a handler ran, it is pending until unblocked, or it was ignored. */
export type Disposition = "default" | "handler" | "pending" | "ignored";

/**
 * What a process does at a signal. `message`: it is sent a message about the signal instead. If a handler throws or
 * takes over 5 s, or the message cannot be delivered, the default action follows.
 */
export type SignalAction = ((signal: Signal) => void | Promise<void>) | "default" | "ignore" | "message";

export function isSignal(n: unknown): n is Signal {
  return n === 1 || n === 2 || n === 3 || n === 4 || n === 5;
}

export function signalName(signal: Signal): SignalName {
  return (Object.keys(SIGNALS) as SignalName[])[signal - 1] as SignalName;
}

/** Parses `SIGTERM`, `term`, `1` … to a signal; undefined: not a signal. */
export function parseSignal(text: string): Signal | undefined {
  if (/^[1-5]$/.test(text)) return Number(text) as Signal;
  const upper = text.toUpperCase();
  const name = upper.startsWith("SIG") ? upper : `SIG${upper}`;
  return Object.hasOwn(SIGNALS, name) ? SIGNALS[name as SignalName] : undefined;
}

/** How a process ended. `done`: by its own decision, limits included; `fault`: a failure; `killed`: by a signal. */
export interface ExitStatus {
  readonly code: number;
  readonly reason: string;
  readonly kind: "done" | "fault" | "killed";
  readonly err?: Error;
}

/** The wording and codes of exits that have one (kernel reference, exit status). */
export const EXIT = {
  completed: { code: 0, reason: "completed", kind: "done" },
  maxSteps: { code: 1, reason: "max steps exceeded", kind: "done" },
  timeout: { code: 1, reason: "timeout", kind: "done" },
  unexpected: { code: 1, reason: "unexpected exit", kind: "fault" },
  budget: { code: 2, reason: "budget_exceeded", kind: "done" },
  sigint: { code: 130, reason: "killed: SIGINT", kind: "killed" },
  sigterm: { code: 143, reason: "killed: SIGTERM", kind: "killed" },
  sigkill: { code: 137, reason: "killed: SIGKILL", kind: "killed" },
  unread: { code: 1, reason: "recovery_failed", kind: "fault" },
  lost: { code: 137, reason: "lost", kind: "killed" },
} as const satisfies Record<string, ExitStatus>;

/** Whether the process was lost with its daemon; it had not failed. */
export function isLost({ kind, reason }: ExitStatus): boolean {
  return kind === EXIT.lost.kind && reason === EXIT.lost.reason;
}

/** How a run of a session ended. `limit`: its steps or budget are used up. */
export type RunOutcome = "completed" | "interrupted" | "failed" | "limit";

/** A copy of what the process table knows; never a reference into the kernel. */
export interface ProcInfo {
  pid: Pid;
  ppid: Pid;
  kind: ProcessKind;
  state: ProcessState;
  activity: Activity | null;
  /** The tool whose call runs, of several the first; absent: none does. */
  tool?: string;
  /** Why it is paused; absent: it is not paused. */
  held?: Hold;
  /**
   * A call of the model that waits for a slot, longer than a second; absent: none does. `place`: its position in that
   * queue.
   */
  slot?: { readonly lane: string; readonly waitedMs: number; readonly place?: number };
  /** It waits to begin: its place in the queue of its tree, from 1, and the length of that; absent: it does not. */
  queue?: { readonly place: number; readonly of: number };
  intent: string;
  skills: readonly string[];
  tokensUsed: number;
  /** An estimate of the tokens of the reply that arrives; absent: none does. */
  comingTokens?: number;
  /** In millionths of a dollar; absent: no call had a price. */
  microUsdUsed?: number;
  /** The number of calls without a known price; absent: none. */
  unpricedCalls?: number;
  /** What it and all below it have used, as far as this daemon knows; of an agent. */
  subtree?: { readonly tokens: number; readonly microUsd: number };
  createdAt: Date;
  /** Milliseconds from creation to now, or to the exit. Monotonic clock. */
  elapsedMs: number;
  ctxId: CtxId;
  result: string;
  /** null: everything its parent may open. */
  allowedDevices: readonly string[] | null;
  exit: ExitStatus | null;
  groups: readonly Pgid[];
  /** The number of threads that have not ended. */
  threads: number;
  coroutines: number;
  /** Agent name, program, or supervisor name; "" in general mode. */
  name: string;
  /** A session: it waits for the next message instead of ending. */
  isSession?: boolean;
  /** Only of an agent that a call of a model started: its lasting name, and what that call said of it. */
  child?: ChildMark & { readonly agentId: string };
  /** Only of a fork that an agent started of itself: what it is for. */
  fork?: string;
  /** That of its agent file; absent: it names none. */
  color?: AgentColor;
  /** The git worktree that was made for it; absent: none. */
  worktree?: Pick<Worktree, "path" | "branch">;
  /** The permission mode of an agent; absent: `default`. */
  mode?: PermissionMode;
  /**
   * Its place in a compose project that the viewer belongs to; absent: none. Little else is shown of a fellow member.
   */
  member?: Member;
  /** Kinds of the labels of what it has read; absent: none. */
  labels?: readonly Label["kind"][];
  /** A line that the user pinned to it; absent: none. */
  note?: string;
  /** The model; the name of the driver if the driver chooses the model; "": no model is used. */
  model: string;
}

/** From the narrowest to the widest. */
export const PERMISSION_MODES = ["plan", "dont_ask", "default", "accept_edits", "auto", "bypass"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

const PUBLISHED_MODES: Readonly<Record<string, PermissionMode>> = {
  dontAsk: "dont_ask",
  acceptEdits: "accept_edits",
  bypassPermissions: "bypass",
};

/** Also accepts the spelling of published formats; undefined: not a mode. */
export function findPermissionMode(text: string): PermissionMode | undefined {
  if (Object.hasOwn(PUBLISHED_MODES, text)) return PUBLISHED_MODES[text];
  return PERMISSION_MODES.find((mode) => mode === text);
}
