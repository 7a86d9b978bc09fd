/** Events: what `astrace`, clients and user interfaces see of a process while it runs. */

import type { CallNote } from "./call-note.ts";
import type { Notice } from "./fact.ts";
import type { Pid } from "./ids.ts";
import type { ExitStatus, PermissionMode } from "./process.ts";
import type { QuestionAnswer, QuestionItem } from "./question.ts";
import type { Refusal } from "./refusal.ts";
import type { RuleDestination } from "./rules.ts";

/** One finished kernel call. Strings in `args` are cut at 256 characters, data is replaced by its size. */
export interface SyscallEvent {
  /** Milliseconds from the process's creation to the begin of the call. */
  readonly timestampMs: number;
  readonly pid: Pid;
  /** The traced name: `Open`, `CtxWrite`, `GetPID`. */
  readonly syscall: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Left out if none; bytes as their number. */
  readonly result?: unknown;
  /** The printed error. */
  readonly error?: string;
  /** Milliseconds, with a precision of a microsecond. */
  readonly durationMs: number;
  /** Shown only to readers that ask for every event. */
  readonly quiet?: boolean;
  /** The path behind the fd of a Read or Write, and how its reads are shown. */
  readonly device?: string;
  readonly traffic?: "message" | "byte";
}

export interface LogEntry extends Notice {
  readonly timestampMs: number;
  readonly level: "info" | "warn" | "error";
}

/** A question of the permission gate to a person. `options` in the order shown. Keys that say nothing here are left out. */
export interface Ask {
  /** Names the request, also over a restart of the daemon: the same call of the same process asks under the same id. */
  readonly askId: string;
  readonly pid: Pid;
  /** One line: `bash: npm test`. */
  readonly text: string;
  readonly options: readonly AskAnswer[];
  /** A diff or long parameters, shown before the question; may be empty. */
  readonly detail: string;
  /** The asking process and its ancestors, from the top: `main-1 › worker-2`. */
  readonly path?: string;
  readonly tool?: string;
  /** The effects of the call. */
  readonly effects?: readonly string[];
  /** What was judged on its own, one by one: each command of a pipe. */
  readonly parts?: readonly AskPart[];
  /** Why it asks. */
  readonly reason?: string;
  /** Where what it has read came from. */
  readonly labels?: readonly string[];
  readonly warnings?: readonly string[];
  /** What its commands could do while they run, in one line. */
  readonly sandbox?: string;
  /** SHA-256 of tool, arguments and resolved effects. */
  readonly digest?: string;
  /** Rules that an "always" may add; none where only this call can be allowed. */
  readonly rules?: readonly AskRule[];
  /** The arguments, where they may be changed: JSON text. */
  readonly input?: string;
  /** It is the agent that asks: answered by "yes" with answers, dismissed by "no". */
  readonly questions?: readonly QuestionItem[];
  /** A limit is reached: "yes" raises it by `offered`, or by the amount in the words of the reply, like `2usd` or `50000`. */
  readonly amount?: AskAmount;
  /** Wall clock, ms. */
  readonly openedAt?: number;
}

export interface AskAmount {
  readonly unit: "usd" | "tokens" | "steps";
  /** As a person reads and writes it: `$2.00`, `50000 tokens`. */
  readonly offered: string;
}

export interface AskPart {
  readonly text: string;
  readonly behavior: "allow" | "ask" | "deny";
  readonly why: string;
}

export interface AskRule {
  readonly rule: string;
  readonly destinations: readonly RuleDestination[];
}

/** What a person answers. */
export interface AskReply {
  readonly answer: AskAnswer;
  /** With a no: for the model. With a yes to a limit: by how much it is raised. */
  readonly words?: string;
  /** With "always": one of the suggested rules, or a narrower one; absent: the first of them. */
  readonly rule?: string;
  /** With "always"; absent: `session`. */
  readonly destination?: RuleDestination;
  /** With "yes", to questions of an agent: one each. */
  readonly answers?: readonly QuestionAnswer[];
  /** With "yes": other arguments. They are decided anew, as if the program had sent them. */
  readonly input?: Readonly<Record<string, unknown>>;
}
export type AskAnswer = "yes" | "no" | "always";

/** What a client that watches a process is told, in order. The last one is always `complete`. */
export type ProcessEvent =
  | {
      readonly event: "spawn";
      readonly pid: Pid;
      readonly intent: string;
      readonly notice?: string;
      readonly details: RunDetails;
    }
  | { readonly event: "step"; readonly pid: Pid; readonly step: number; readonly total: number }
  | { readonly event: "mode"; readonly pid: Pid; readonly mode: PermissionMode }
  | { readonly event: "ask"; readonly pid: Pid; readonly ask: Ask }
  /** The question was answered, here or by another client, or is void. */
  | {
      readonly event: "ask_closed";
      readonly pid: Pid;
      readonly askId: string;
      readonly answer: AskAnswer | null;
    }
  | {
      readonly event: "tool";
      readonly pid: Pid;
      readonly device: string;
      readonly inBytes: number;
      readonly outBytes: number;
      readonly durationMs: number;
    }
  /** A call of the model is over, or was none. Beside `tool`, which counts bytes. */
  | { readonly event: "call"; readonly pid: Pid; readonly call: CallNote }
  /** What the model says beside its calls, in a run of its own. */
  | { readonly event: "said"; readonly pid: Pid; readonly text: string }
  | { readonly event: "log"; readonly pid: Pid; readonly entry: LogEntry }
  /** It is held, or goes on, whoever brought that about. */
  | { readonly event: "paused"; readonly pid: Pid; readonly isPaused: boolean }
  /** A session has read a message: a run begins with it, or the run under way goes on with it. */
  | (SessionMessage & { readonly event: "input"; readonly joins: boolean })
  /** It is durable and waits; `ahead`: what is done and read before it. */
  | (SessionMessage & { readonly event: "queued"; readonly ahead: number })
  /** It was taken back before it was read. */
  | { readonly event: "withdrawn"; readonly pid: Pid; readonly seq: number }
  /** The words of one reply of the model. */
  | { readonly event: "reply"; readonly pid: Pid; readonly text: string }
  /** A run of a session is over: it does the next message, or waits for one. */
  | RunEnd
  | { readonly event: "error"; readonly pid: Pid; readonly message: string; readonly error: Error }
  | {
      readonly event: "complete";
      readonly pid: Pid;
      readonly result: string;
      readonly exit: ExitStatus;
      readonly tokensUsed: number;
      /** Its own, and with all below it; absent: nothing that has a price. */
      readonly cost?: RunCost;
      /** Its own calls whose price is not known; absent: none. */
      readonly unpricedCalls?: number;
      /** Which answered last; absent: none did. */
      readonly model?: string;
      readonly elapsedMs: number;
      /** Calls that were refused without asking a person; absent: none. */
      readonly denied?: readonly Refusal[];
    };

/** Millionths of a dollar. */
export interface RunCost {
  readonly own: number;
  readonly subtree: number;
}

/** What a client of the user, or another process, said to a session. */
interface SessionMessage {
  readonly pid: Pid;
  /** Of the message; 0: the intent. */
  readonly seq: number;
  /** 0: a client of the user. */
  readonly from: Pid;
  /** "" unknown. */
  readonly client: string;
  readonly text: string;
}

/** `limit`: steps or budget. */
export type RunOutcome = "completed" | "interrupted" | "failed" | "limit";

/** What the model reads, as a message of the person, of a run that was ended. */
export const INTERRUPTED_NOTE = "[interrupted by the user]";

export interface RunEnd {
  readonly event: "idle";
  readonly pid: Pid;
  /** Of the message that began the run. */
  readonly seq: number;
  readonly outcome: RunOutcome;
  /** As the exit of a process that has one run. */
  readonly exitCode: number;
  /** Why it ended so; "" for a completed one. */
  readonly message: string;
  readonly error?: Error;
  /** The last words of the model in it. */
  readonly result: string;
  /** By the run alone. */
  readonly tokensUsed: number;
  readonly elapsedMs: number;
  /** Messages that wait. */
  readonly queued: number;
  /** In the run; absent: none. */
  readonly denied?: readonly Refusal[];
}

/** For the verbose screen; `-` is printed where a text is empty. */
interface RunDetails {
  readonly agent: string;
  readonly model: string;
  /** 0: no limit. */
  readonly maxSteps: number;
  /** Tokens; 0: no limit. */
  readonly budget: number;
  readonly device: string;
  /** In which it begins; absent: `default`. */
  readonly mode?: PermissionMode;
}
