/** Everything the kernel needs from outside: it has no disk, no model, no clock of its own. `boot` fills it in. */

import type { KeyObject } from "node:crypto";
import type { AgentInfo, AgentSeeker } from "../../abi/agent.ts";
import type { Budget, BudgetWindow } from "../../abi/budget.ts";
import type { ComposeProject } from "../../abi/compose/compose.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { Clock, Program } from "../../abi/program.ts";
import type { Pace } from "../../lib/paced.ts";
import type { Redactor } from "../../lib/redact/redact.ts";
import type { TimeSlice } from "../../lib/time/time-slice.ts";
import type { Classifier } from "./classifier.ts";
import type { Ends } from "./ends.ts";
import type { Guides } from "./guides.ts";
import type { HostExec, RealPath } from "./host.ts";
import type { JobDesk } from "./jobs.ts";
import type { Journal } from "./journal.ts";
import type { McpHost } from "./mcp.ts";
import type { ModelResolver } from "./models.ts";
import type { Permit } from "./permit.ts";
import type { ProjectSource } from "./projects.ts";
import type { Scratchpads } from "./scratchpads.ts";
import type { SettingsWriter } from "./settings.ts";
import type { SpoolStore } from "./spools.ts";
import type { TimeGaps } from "./time-gaps.ts";
import type { Worktrees } from "./worktrees.ts";

export interface KernelPorts {
  readonly journal: Journal;
  /** Absent: an exit while the disk is full is forgotten with its daemon. */
  readonly ends?: Ends;
  /** The policy for a process that works in `cwd`: settings of the user and of that project. */
  readonly permitFor: (cwd: string) => Permit;
  /** Writes rules, mode and directories into settings files. Absent: there are no settings files. */
  readonly settings?: SettingsWriter;
  readonly models: ModelResolver;
  /** The classifier of auto mode. Absent: the user is asked instead. */
  readonly classifier?: Classifier;
  /** The program that runs an agent. */
  readonly program: Program;
  /** When the next agent may begin; absent: at once. */
  readonly starts?: Pace;
  /** When a program goes on with the answer of a call: one that a person waits for, and any other. Absent: at once. */
  readonly slices?: Readonly<Record<"first" | "others", Pick<TimeSlice, "next">>>;
  readonly clock: Clock;
  /** Reports gaps in time. Absent: not observed. */
  readonly gaps?: TimeGaps;
  /** OS children. */
  readonly exec: HostExec;
  /** Background commands of processes. Absent: not supported. */
  readonly jobs?: JobDesk;
  /** Outputs of native programs and pipes of projects, on disk. */
  readonly spools: SpoolStore;
  readonly mcp: McpHost;
  /** The environment of a process's command, without secrets. INVALID: `extra` names a variable that it may not set. */
  readonly commandEnv: (
    owner: { pid: Pid; uuid: ProcUuid; env: Readonly<Record<string, string>> },
    extra: Readonly<Record<string, string>>,
    /** The command that is started: some programs get variables that the user has given them. */
    argv?: readonly string[],
  ) => Record<string, string>;
  /** A capability token for a program with a name; absent: programs get none. */
  readonly tokenFor?: (owner: { pid: Pid; uuid: ProcUuid }, scopes: readonly string[]) => string;
  /** 0 … 1, for jitter. */
  readonly random: () => number;
  /** The version of Crux, for recordings; absent: it is not recorded. */
  readonly version?: string;
  /** Loads an agent by name, for starts inside the kernel: "none" is null. NOT_FOUND lists the known names. */
  readonly loadAgent: (name: string | undefined, seeker: AgentSeeker) => Promise<AgentInfo | null>;
  /**
   * Reads and checks the compose file of a project of an earlier daemon. Absent: no project is restored with its
   * services.
   */
  readonly loadProject?: (
    source: ProjectSource,
    env: Readonly<Record<string, string>>,
  ) => Promise<ComposeProject>;
  /** Absent: no process gets a worktree. */
  readonly worktrees?: Worktrees;
  /** Absent: nothing guides a process but its agent file. */
  readonly guides?: Guides;
  readonly realPath: RealPath;
  /** Redacts secrets from what is stored, shown, logged or sent to a model. Absent: nothing counts as a secret. */
  readonly redactor?: Redactor;
  /** The key that seals the user's grants; private to this state directory. */
  readonly grantKey: KeyObject;
  /** Why no process may start in `bypass` mode here; "": it may. Absent: the same. */
  readonly bypassRefusal?: () => string;
  /** A random UUID. */
  readonly uuid: () => ProcUuid;
  /** 64 random bits in hex: names of calls and questions. */
  readonly nonce: () => string;
  /** Makes the private folder of a process and names it. */
  readonly scratchDir: (uuid: ProcUuid) => string;
  /** Absent: no session has a folder that its agents share. */
  readonly scratchpads?: Scratchpads;
  /** Called when the process has ended: releases what it held of shared lists. Never rejects. Absent: nothing to release. */
  readonly onExited?: (pid: Pid) => Promise<void>;
  /** Called when these have come back and nothing runs yet: does of that what the last daemon did not. Never rejects. */
  readonly onReturned?: (pids: readonly Pid[]) => Promise<void>;
  /** Called when the process is reaped: devices may remove what they keep for it. */
  readonly onReaped: (uuid: ProcUuid) => Promise<void>;
  readonly home: string;
  /** The environment of processes whose client sends none. */
  readonly env: Readonly<Record<string, string>>;
  /** How long an unattended idle session stays in memory; asked each time. Absent: the default. */
  readonly sessionRestMs?: () => number;
  /**
   * After how long an unanswered question is denied (0: never), and one whose clients have all left; asked each time.
   * Absent: never, and the default.
   */
  readonly askTimeouts?: () => { readonly askMs: number; readonly detachedMs: number };
  /** The budgets in the settings, of a folder if one is named; read at each use. Absent: none. */
  readonly budget?: (cwd?: string) => BudgetPolicy;
  /** The step limit if nothing else sets one. */
  readonly defaultMaxSteps: number;
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
}

export interface BudgetPolicy {
  /** The budget of each agent that the user starts without one. */
  readonly defaults: Budget;
  /** The budgets over a time for all processes of the user together. */
  readonly windows: readonly BudgetWindow[];
  /** The user is told once when what they have started has cost so much, in US dollars. Absent: never. */
  readonly reminderUsd?: number;
  /** At a limit: `ask` an attached user, or `fail`. Absent: ask if somebody is attached. */
  readonly onLimit?: "ask" | "fail";
  /** At the limit of a window: `wait` for room, only for processes that nobody follows. Absent: fail. */
  readonly onWindow?: "fail" | "wait";
  /**
   * Agents running at once, if no account sets it: children of one agent, and agents in all; agents of one tree that are
   * started in a day, that begin in a minute, and that wait; calls of one agent with one task. Absent: as in limits.ts.
   */
  readonly agents?: {
    readonly children?: number;
    readonly kernel?: number;
    readonly perDay?: number;
    readonly perMinute?: number;
    readonly sameTask?: number;
    readonly queue?: number;
  };
}
