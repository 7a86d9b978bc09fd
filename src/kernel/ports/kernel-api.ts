/** The kernel as wires see it. Everything a client does passes the handle of pid 0, and so the gate. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { AskAnswer, AskReply, ProcessEvent, SyscallEvent } from "../../abi/events.ts";
import type { GrantBy } from "../../abi/grants.ts";
import type { Pid } from "../../abi/ids.ts";
import type { JobView } from "../../abi/jobs.ts";
import type { MountView } from "../../abi/mcp.ts";
import type { ExitStatus, ProcInfo, Signal } from "../../abi/process.ts";
import type { SpawnOpts, Syscalls } from "../../abi/sys.ts";
import type { Budgets } from "./budgets.ts";
import type { Forks } from "./forks.ts";
import type { GroupView } from "./groups.ts";
import type { Projects } from "./projects.ts";
import type { Replays } from "./replays.ts";
import type { Requests } from "./requests.ts";
import type { RightsControl } from "./rights-control.ts";
import type { Services } from "./services.ts";
import type { Sessions } from "./sessions.ts";
import type { LogPiece, Subscription } from "./subscription.ts";
import type { SupervisorControl } from "./supervisors.ts";

/** Options of an answer, and who gave it. */
export interface AnswerMore extends Pick<AskReply, "rule" | "destination" | "input" | "answers"> {
  readonly by?: GrantBy;
}

/** What an OS child of a process may do: see what that process sees, and act for it if it is its program. */
export interface ChildClient {
  readonly pid: Pid;
  /** The uuid of its oldest ancestor that still is, or its own. */
  readonly line: string;
  /** A person started it, and no agent stands between: it is the person's own. */
  readonly isPersons: boolean;
  list(): readonly ProcInfo[];
  sees(pid: number): boolean;
  /** Its handle, through the gate. null: an agent acts by its own calls alone. */
  readonly sys: Syscalls | null;
}

export interface KernelApi {
  /** The handle of pid 0: sees and controls all. */
  readonly init: Syscalls;
  readonly projects: Projects;
  readonly services: Services;
  readonly forks: Forks;
  readonly sessions: Sessions;
  readonly replays: Replays;
  readonly budgets: Budgets;
  readonly rights: RightsControl;
  readonly requests: Requests;
  /**
   * spawn() of pid 0 with a watcher attached before the first event, so that nothing is missed. While the watcher is
   * open, the process is not reaped; closing it hands a zombie to the reaper.
   */
  spawnWatched(
    intent: string,
    agent: AgentInfo | null,
    opts: SpawnOpts,
  ): Promise<{ pid: Pid; events: Subscription<ProcessEvent> }>;
  /**
   * The last 256 kernel calls, then live ones; ends when the debug channel closes. `all`: quiet calls too.
   * Queue of 256; a full queue drops the new event and counts it. NOT_FOUND: no such process.
   */
  attachDebug(pid: Pid, options: { all: boolean }): Subscription<SyscallEvent>;
  /**
   * Follows a process that runs, from now on to its end; one that has ended tells its end at once. While the subscription is
   * open it is not reaped. `interactive`: this client can answer questions. NOT_FOUND.
   */
  attach(pid: Pid, options: { interactive: boolean }): Subscription<ProcessEvent>;
  /**
   * The newest `tail` lines, then what comes until the end. A process that is gone answers from the journal, a native's output
   * from its spool. NOT_FOUND: there never was such a process, or its history is gone.
   */
  logs(pid: Pid, options: { tail: number; follow: boolean }): Promise<Subscription<LogPiece>>;
  /** Signals a process and all its living descendants; returns those reached, by rising pid. NOT_FOUND. */
  signalTree(pid: Pid, signal: Signal): Promise<Pid[]>;
  /**
   * What a process that was brought back after a restart needs of its client before it can go on; nothing for others.
   * Kept in memory only.
   */
  lendEnv(pid: Pid, env: Readonly<Record<string, string>>): void;
  /**
   * A process goes on, whatever it does now: paused, resting, or ended. One that had completed waits for a message. `env` as
   * above. NOT_FOUND: there is none, or its history is gone; CONFLICT: it cannot come back, and why.
   */
  resume(pid: Pid, env?: Readonly<Record<string, string>>): Promise<ProcInfo>;
  /** Pins a line to a process, "" takes it away; absent: none is pinned. The line it has then. NOT_FOUND, INVALID. */
  pin(pid: Pid, change?: { readonly text: string; readonly by: GrantBy }): Promise<string>;
  listGroups(): readonly GroupView[];
  listMounts(): readonly MountView[];
  /** Paths of the devices that every process has. */
  listDevices(): readonly string[];
  /** NOT_FOUND: no supervisor has this pid. */
  supervisor(pid: Pid): SupervisorControl;
  /** wait() with a deadline, also for a process that only the journal knows, with what the last line of a run shows. TIMEOUT: it still runs. */
  waitFor(
    pid: Pid,
    signal: AbortSignal,
  ): Promise<{ exit: ExitStatus; tokensUsed: number; elapsedMs: number }>;
  /**
   * First valid answer wins: CONFLICT later; NOT_FOUND unknown. `words` reach the model with a no. Resolves once it is kept, with
   * what the person must know of it; "": nothing.
   */
  answer(askId: string, answer: AskAnswer, words?: string, more?: AnswerMore): Promise<string>;
  /** Commands in the background: of one process, or of all. NOT_FOUND: no such process. */
  jobs(pid?: Pid): Promise<readonly JobView[]>;
  /** The output of one from a byte on; `isFollowed`: until it has ended. NOT_FOUND. */
  jobOutput(
    pid: Pid,
    id: string,
    options: { from: number; isFollowed: boolean; signal: AbortSignal },
  ): AsyncIterable<Uint8Array>;
  /** The process that owns an OS child, by uuid; undefined: it has ended. */
  clientOf(uuid: string): ChildClient | undefined;
  /** A notice to show before any output of this process; "" for none. */
  noticeOf(pid: Pid): string;
  /** Created and running processes that keep the daemon alive: all but sessions that wait with nobody there. */
  active(): number;
  /** Live OS children, of every owner. */
  readonly osChildren: number;
  /**
   * TERM to all, `graceMs`, KILL, reaped; no new spawns from now on (UNAVAILABLE). Paused agents rest: they do not end, and the
   * next daemon brings them back. Idempotent.
   */
  shutdown(graceMs: number): Promise<void>;
  /**
   * Nothing that is done can be kept any more: all processes end here and now, without an exit, and what they started is killed.
   * Who follows them hears UNAVAILABLE with the words. The next daemon goes on from what was kept. Bounded in time.
   */
  abandon(words: string): Promise<void>;
}
