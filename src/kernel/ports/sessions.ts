/** Sessions, the processes that the user talks to, as the wires see them: live ones, and resting ones on disk. */
import type { AgentMap } from "../../abi/agent.ts";
import type { ErrorCode } from "../../abi/errno.ts";
import type { Detail, ProcessEvent } from "../../abi/events.ts";
import type { Fact } from "../../abi/fact.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { Terminal } from "../../abi/loop.ts";
import type { Message } from "../../abi/mail.ts";
import type { McpServer } from "../../abi/mcp.ts";
import type { RunOutcome } from "../../abi/process.ts";
import type { Sent } from "../../abi/sys.ts";
import type { Subscription } from "./subscription.ts";

/** `resting`: it has left memory but not ended; opening it or sending it a message brings it back. */
export type SessionState = "running" | "waiting" | "blocked" | "paused" | "resting" | "ended";

export interface SessionView {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  /** The title that the user gave it, or its first words. */
  readonly title: string;
  /** The name of its agent; "" in general mode. */
  readonly name: string;
  readonly cwd: string;
  readonly state: SessionState;
  /** Wall clock, ms; `lastAt`: the time of its last record. */
  readonly createdAt: number;
  readonly lastAt: number;
  readonly tokensUsed: number;
  /** The number of messages to it. */
  readonly turns: number;
  /** Retention never removes it. */
  readonly isKept: boolean;
}

/** What a session works with. */
export interface SessionGround {
  readonly dirs: readonly string[];
  /** The MCP servers that it has of its own, by name: those of its agent, its folder and its client. */
  readonly servers: readonly string[];
}

/** A call of a reply, and what came of it. */
export interface MadeCall {
  readonly id: string;
  readonly tool: string;
  /** Absent where it is long, or the page has no room. */
  readonly input?: unknown;
  /** Cut at 8 KiB; absent: there is none on record, or the page has no room. */
  readonly result?: string;
  readonly isError?: boolean;
}

/** How a run ended that neither completed nor was interrupted by the user. */
export interface RunFailure {
  readonly outcome: Exclude<RunOutcome, "completed" | "interrupted">;
  readonly message: string;
  /** Absent: an older version has not recorded it. */
  readonly reason?: Terminal["reason"];
  /** Of the error, where there was one. */
  readonly code?: ErrorCode;
  readonly hint?: string;
  readonly fact?: Fact;
}

/** A message of a conversation, for showing. */
export interface HistoryItem {
  readonly role: "user" | "assistant";
  /** Cut at 64 KiB. */
  readonly text: string;
  /** The calls of a reply, each on one line. */
  readonly calls: readonly string[];
  /** The same ones, where they were asked for: in full as far as the page has room for that. */
  readonly made?: readonly MadeCall[];
  /** The run ended so after this message. Absent: it went on, completed, or was interrupted. */
  readonly end?: RunFailure;
  /** Its number in the mailbox of the session; absent: it did not come that way. */
  readonly message?: number;
  /** Wall clock, ms. */
  readonly at: number;
  /** Its record: of which process, and the sequence number there. */
  readonly proc: ProcUuid;
  readonly seq: number;
}

export interface HistoryWish {
  readonly before?: string;
  readonly limit: number;
  /** Only messages with these words, whatever their case. */
  readonly text?: string;
  /** With what came of each call. */
  readonly made?: boolean;
}

export interface HistoryPage {
  /** The oldest first. */
  readonly items: readonly HistoryItem[];
  /** Passed as `before`, it gives the page before this one; undefined: this is the first page. */
  readonly next: string | undefined;
}

export interface AwakeOptions {
  /** The environment of the client: what the model and the servers need to connect. */
  readonly env?: Readonly<Record<string, string>>;
  /** Resumes an ended agent as a session; absent: only a resting session is brought back. */
  readonly session?: boolean;
}

/** What a session works with from now on; what is absent stays as it is. */
export interface SessionChange {
  /** As for opening it. */
  readonly env?: AwakeOptions["env"];
  /** Directories beside those that it has. */
  readonly dirs?: readonly string[];
  /** MCP servers of its client, in place of those of the same names, beside the others. */
  readonly servers?: readonly McpServer[];
  /** True: it has no servers of its agent and its folder. */
  readonly isStrict?: boolean;
  /** The whole system prompt. */
  readonly systemPrompt?: string;
  /** The agents of its client, all of them. */
  readonly agents?: AgentMap;
  /** The only tools that it and its descendants have, of those that it has. */
  readonly tools?: readonly string[];
}

export interface AsideWish extends Pick<AwakeOptions, "env"> {
  readonly text: string;
  readonly detail?: Detail | undefined;
  readonly signal: AbortSignal;
}

/** The process that answers, with all that it says. Its answer is its result. */
export interface Aside {
  readonly pid: Pid;
  readonly events: Subscription<ProcessEvent>;
}

/** An agent that ended with a message in its mailbox. */
export interface EndedUnread {
  readonly pid: Pid;
  readonly ppid: Pid;
  readonly seed: { readonly env: Readonly<Record<string, string>> };
}

export interface Sessions {
  /** The session with the newest record first. `all` includes those that have ended. */
  list(filter: { readonly cwd?: string; readonly all?: boolean }): Promise<readonly SessionView[]>;
  /** NOT_FOUND: no process with a history has this pid. */
  view(pid: Pid): Promise<SessionView>;
  /** NOT_FOUND: no such live process. */
  ground(pid: Pid): Promise<SessionGround>;
  /** Does nothing if the process is live or unknown: the following call reports that. Rejects as `wake` does. */
  awake(pid: Pid, options?: AwakeOptions): Promise<void>;
  /**
   * A session stays what it began as. Tells those who follow it where its client would have begun another kind: one of a
   * coordinator, or one of any other agent.
   */
  keepMode(pid: Pid, isForCoordinator: boolean): void;
  /**
   * Brings an ended agent back with a message of a process above it, whose environment it gets; recorded in one group. It is
   * one of the background from then on. undefined: it is here meanwhile, so the message goes to its mailbox. Rejects as `wake`
   * does.
   */
  resumeWith(
    pid: Pid,
    letter: Pick<Message, "from" | "data"> & { readonly labels?: Message["labels"] | undefined },
    env: Readonly<Record<string, string>>,
  ): Promise<Sent | undefined>;
  /** The same of one that has just ended with a message that it has not read. Never rejects: why it stays ended is in the log. */
  readOn(ended: EndedUnread): Promise<void>;
  /**
   * Durable when it resolves, and the session is in memory. CONFLICT: it is not idle, or a client follows it. INVALID: a prompt too
   * long. NOT_FOUND; else as `wake`.
   */
  change(pid: Pid, change: SessionChange): Promise<void>;
  /**
   * Has a question answered beside the conversation: by an internal fork, which may call nothing, costs what the session pays, and
   * leaves nothing in it. Also while the session works. NOT_FOUND; CONFLICT: it is paused or has ended; UNAVAILABLE: too many
   * forks of it run; else as `wake`.
   */
  aside(pid: Pid, wish: AsideWish): Promise<Aside>;
  /** NOT_FOUND; INVALID: `before` does not come from an earlier page. */
  history(pid: Pid, wish: HistoryWish): Promise<HistoryPage>;
  /** Durable when it resolves. INVALID: a title too long, or blank. */
  describe(pid: Pid, words: { readonly title?: string; readonly kept?: boolean }): Promise<void>;
  /**
   * Withdraws a waiting message. NOT_FOUND: no such live process. CONFLICT: the message was read, or does not exist.
   */
  withdraw(pid: Pid, seq: number): Promise<void>;
}
