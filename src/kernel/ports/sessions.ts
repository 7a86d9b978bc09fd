/** Processes that a person talks to, as the wires see them: live ones, and those that rest on disk. */
import type { Pid, ProcUuid } from "../../abi/ids.ts";

/** `resting`: it has left memory and has not ended; who opens it, or speaks to it, brings it back. */
export type SessionState = "running" | "waiting" | "blocked" | "paused" | "resting" | "ended";

export interface SessionView {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  /** As a person named it, or its first words. */
  readonly title: string;
  /** Of its agent; "" in general mode. */
  readonly name: string;
  readonly cwd: string;
  readonly state: SessionState;
  /** Wall clock, ms; of its last record likewise. */
  readonly createdAt: number;
  readonly lastAt: number;
  readonly tokensUsed: number;
  /** Messages to it. */
  readonly turns: number;
  /** Retention leaves it alone. */
  readonly isKept: boolean;
}

/** A message of a conversation, for showing. */
export interface HistoryItem {
  readonly role: "user" | "assistant";
  /** Cut at 64 KiB. */
  readonly text: string;
  /** The calls of a reply, each on one line. */
  readonly calls: readonly string[];
  /** Wall clock, ms. */
  readonly at: number;
  /** Of its record. */
  readonly seq: number;
}

export interface HistoryPage {
  /** The oldest first. */
  readonly items: readonly HistoryItem[];
  /** Asked for as `before`, it gives the page before this one; undefined: there is none. */
  readonly next: string | undefined;
}

export interface AwakeOptions {
  /** Of the client: what the model and the servers need to connect. */
  readonly env?: Readonly<Record<string, string>>;
  /** An agent that has ended goes on as a session; without, only a session that rests comes back. */
  readonly session?: boolean;
}

export interface Sessions {
  /** The one with the newest record first. `all`: those that have ended, too. */
  list(filter: { readonly cwd?: string; readonly all?: boolean }): Promise<readonly SessionView[]>;
  /** NOT_FOUND: no process with a history has this pid. */
  view(pid: Pid): Promise<SessionView>;
  /** Nothing where it is live, or no such process is known: who goes on says so. Rejects as `wake` does. */
  awake(pid: Pid, options?: AwakeOptions): Promise<void>;
  /** NOT_FOUND; INVALID: `before` is none of ours. */
  history(pid: Pid, options: { readonly before?: string; readonly limit: number }): Promise<HistoryPage>;
  /** Durable when it resolves. INVALID: a title too long, or blank. */
  describe(pid: Pid, words: { readonly title?: string; readonly kept?: boolean }): Promise<void>;
  /** Takes back a message that waits. NOT_FOUND: no such process is live. CONFLICT: it has been read, or there is none. */
  withdraw(pid: Pid, seq: number): Promise<void>;
}
