/** The compose projects as the kernel itself sees them: who is a member of one, and what can be done to one that runs. */
import type { ProjectEvent, ProjectView } from "../../abi/compose/compose.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Member } from "../../abi/member.ts";
import type { ProjectUp } from "../../kernel/ports/projects.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import type { ProjectFeed } from "./feed.ts";

/** What is remembered of a project that is over. */
export interface PastProject {
  readonly view: ProjectView;
  readonly feed: ProjectFeed;
}

export interface RunningProject extends PastProject {
  readonly name: string;
  /** Of its supervisor. */
  readonly pid: Pid;
  /** It takes no more services. */
  readonly isEnding: boolean;
  /** All is gone, and its end has been told. */
  readonly over: Promise<void>;
  readonly members: readonly Member[];
  watch(): Subscription<ProjectEvent>;
  /** For a client that asks again for what it has brought up. */
  rejoin(env: ProjectUp["env"]): Subscription<ProjectEvent>;
  /** Brings it to what the file says now: what goes or is replaced is shut down first. CONFLICT: it has ended meanwhile. */
  change(request: ProjectUp): Promise<void>;
  /** TERM, and KILL to what is not gone in time. Resolves when nothing is left. */
  down(timeoutMs: number): Promise<void>;
  kill(): Promise<void>;
}

/** Where a process stands in the tree. */
export interface Standing {
  readonly pid: Pid;
  readonly ppid: Pid;
}

export interface ProjectRoster {
  /** Which member it is of a project that runs; undefined: of none. Its descendants, and forks of it, are not members. */
  memberOf(proc: Standing): Member | undefined;
  /** The other members, where members may write to one another. */
  fellowsOf(proc: Standing): readonly Member[];
  /** One that an earlier daemon left, and that runs again. */
  enter(project: RunningProject): void;
}
