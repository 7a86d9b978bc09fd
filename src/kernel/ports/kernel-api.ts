/** The kernel as the wires see it. Everything a client does passes the handle of pid 0, and so the gate. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { AskAnswer, AskReply } from "../../abi/ask.ts";
import type { Detail, ProcessEvent, SyscallEvent } from "../../abi/events.ts";
import type { GrantBy } from "../../abi/grants.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { MountView } from "../../abi/mcp.ts";
import type { JobView } from "../../abi/ops/jobs.ts";
import type { ExitStatus, ProcInfo, Signal } from "../../abi/process.ts";
import type { SpawnOpts, Syscalls } from "../../abi/sys.ts";
import type { AgentRuns } from "./agent-runs.ts";
import type { Budgets } from "./budgets.ts";
import type { EventLog } from "./events.ts";
import type { Forks } from "./forks.ts";
import type { GroupView } from "./groups.ts";
import type { Hal } from "./hal.ts";
import type { Intents } from "./intents.ts";
import type { ModelAnswering, ModelWish } from "./models.ts";
import type { Natives } from "./natives.ts";
import type { Projects } from "./projects.ts";
import type { Replays } from "./replays.ts";
import type { Requests } from "./requests.ts";
import type { RightsControl } from "./rights-control.ts";
import type { Services } from "./services.ts";
import type { Sessions } from "./sessions.ts";
import type { LogPiece, Subscription } from "./subscription.ts";
import type { SupervisorControl } from "./supervisors.ts";
import type { ViewControl } from "./view-control.ts";

/** Options of an answer, and who gave it. */
export interface AnswerMore extends Pick<AskReply, "rule" | "destination" | "input" | "answers"> {
  readonly by?: GrantBy;
}

/** What an OS child of a process may do: see what that process sees, and act for it if it is its program. */
export interface ChildClient {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  /** The uuid of its oldest ancestor that still exists, or its own. */
  readonly line: string;
  /** The user started it, and no agent stands in between: it acts for the user. */
  readonly isPersons: boolean;
  list(): readonly ProcInfo[];
  sees(pid: number): boolean;
  /** Itself or a descendant. */
  controls(pid: number): boolean;
  /**
   * Called before a program is told what another process says, or what is said of it: its own process then has the labels of that
   * one and of all between them, as if it had read.
   */
  hears(pid: number): Promise<void>;
  /** Its handle, through the gate. null for a child of an agent: agents act only by their own calls. */
  readonly sys: Syscalls | null;
}

export interface KernelApi {
  /** The handle of pid 0: sees and controls all. */
  readonly init: Syscalls;
  readonly projects: Projects;
  readonly services: Services;
  readonly natives: Natives;
  readonly runs: AgentRuns;
  readonly hal: Hal;
  readonly events: EventLog;
  readonly intents: Intents;
  readonly forks: Forks;
  readonly sessions: Sessions;
  readonly views: ViewControl;
  readonly replays: Replays;
  readonly budgets: Budgets;
  readonly rights: RightsControl;
  readonly requests: Requests;
  /**
   * spawn() of pid 0 with a watcher attached before the first event, so that nothing is missed. While the watcher is
   * open, the process is not reaped; closing it hands a zombie to the reaper. Without `uuid` the caller may not know it.
   */
  spawnWatched(
    intent: string,
    agent: AgentInfo | null,
    opts: SpawnOpts & { readonly detail?: Detail | undefined },
  ): Promise<{ pid: Pid; uuid?: ProcUuid; events: Subscription<ProcessEvent> }>;
  /**
   * The last 256 kernel calls, then live ones; ends when the debug channel closes. `all`: quiet calls too.
   * Queue of 256; a full queue drops the new event and counts it. NOT_FOUND: no such process.
   */
  attachDebug(pid: Pid, options: { all: boolean }): Subscription<SyscallEvent>;
  /**
   * Follows a running process from now on to its end; an ended one reports its end at once. While the subscription is
   * open it is not reaped. `interactive`: this client can answer questions. NOT_FOUND.
   */
  attach(
    pid: Pid,
    options: { interactive: boolean; detail?: Detail | undefined },
  ): Subscription<ProcessEvent>;
  /**
   * The newest `tail` lines, then new ones until the end. For a process that is gone they come from the journal, a
   * native's output from its spool. NOT_FOUND: no such process, or its history was removed.
   */
  logs(pid: Pid, options: { tail: number; follow: boolean }): Promise<Subscription<LogPiece>>;
  /** Signals a process and all its living descendants; returns those reached, by rising pid. NOT_FOUND. */
  signalTree(pid: Pid, signal: Signal): Promise<Pid[]>;
  /**
   * Lends a process that was restored after a restart the environment it needs from its client to resume; no effect on
   * others. Kept in memory only.
   */
  lendEnv(pid: Pid, env: Readonly<Record<string, string>>): void;
  /**
   * Resumes a process, whether paused, resting or ended. One that had completed waits for a message. `env` as above.
   * NOT_FOUND: no such process, or its history was removed; CONFLICT: it cannot be resumed, with the reason.
   */
  resume(pid: Pid, env?: Readonly<Record<string, string>>): Promise<ProcInfo>;
  /** Another model answers a process from its next run or step on. UNAVAILABLE: it is not set up; else as of `pin`. */
  chooseModel(pid: Pid, wish: ModelWish): Promise<ModelAnswering>;
  /** Changes the share of a process of the models that others wait for too. Errors as of `pin`. */
  renice(pid: Pid, change: { readonly weight: number; readonly by: GrantBy }): Promise<void>;
  /** Hands a child that a call waits for, or all of a process that is none, to the background: their pids. NOT_FOUND, CONFLICT. */
  handOver(pid: Pid): Promise<readonly Pid[]>;
  /** Ends what works for a process in the background; it is told nothing of it. Resolves when its commands are gone. */
  endBackground(pid: Pid, what: readonly ("agents" | "jobs")[]): Promise<void>;
  /** Pins a line to a process; "" removes it; absent: no change. Returns the pinned line. NOT_FOUND, INVALID. */
  pin(pid: Pid, change?: { readonly text: string; readonly by: GrantBy }): Promise<string>;
  listGroups(): readonly GroupView[];
  listMounts(): readonly MountView[];
  /** Paths of the devices that every process has. */
  listDevices(): readonly string[];
  /** NOT_FOUND: no supervisor has this pid. */
  supervisor(pid: Pid): SupervisorControl;
  /**
   * wait() with a deadline, also for a process that only the journal knows, with the figures for the last line of a
   * run. TIMEOUT: it is still running.
   */
  waitFor(
    pid: Pid,
    signal: AbortSignal,
  ): Promise<{
    exit: ExitStatus;
    tokensUsed: number;
    elapsedMs: number;
    /** Of its own calls, in millionths of a dollar, and the calls without a known price; absent: not recorded. */
    microUsdUsed?: number;
    unpricedCalls?: number;
  }>;
  /**
   * Ended processes that only the journal knows, with pids below `before`, the highest first. `tree`: that process and
   * all below it. `next`: the `before` of the next page.
   */
  ended(page: {
    before: number;
    limit: number;
    tree?: Pid | undefined;
  }): Promise<{ readonly processes: readonly ProcInfo[]; readonly next?: Pid }>;
  /**
   * The first valid answer wins, a later one is CONFLICT; NOT_FOUND: no such question. `words` go to the model with a
   * no. Resolves once it is recorded, with a note for the user; "": none.
   */
  answer(askId: string, answer: AskAnswer, words?: string, more?: AnswerMore): Promise<string>;
  /** Commands in the background: of one process, or of all. NOT_FOUND: no such process. */
  jobs(pid?: Pid): Promise<readonly JobView[]>;
  /** The output of a background command from byte `from` on; `isFollowed`: until it has ended. NOT_FOUND. */
  jobOutput(
    pid: Pid,
    id: string,
    options: { from: number; isFollowed: boolean; signal: AbortSignal },
  ): AsyncIterable<Uint8Array>;
  /** The process that owns an OS child, by uuid; undefined: it has ended. */
  clientOf(uuid: string): ChildClient | undefined;
  /** A notice to show before any output of this process; "" for none. */
  noticeOf(pid: Pid): string;
  /** Created and running processes that keep the daemon alive: all but unattended sessions that wait. */
  active(): number;
  /** Whether a process runs that nothing holds: a session that waits for its user does not. */
  isWorking(): boolean;
  /** Live OS children of all owners. */
  readonly osChildren: number;
  /**
   * TERM to all, `graceMs`, KILL, reaped; no new spawns from now on (UNAVAILABLE). Paused agents do not end: they rest,
   * and the next daemon restores them. Idempotent.
   */
  shutdown(graceMs: number): Promise<void>;
  /**
   * Nothing can be recorded any more: all processes stop here and now, without an exit, and their OS children are
   * killed. Their followers get UNAVAILABLE with `words`. The next daemon resumes from what was recorded. Bounded in
   * time.
   */
  abandon(words: string): Promise<void>;
}
