/** The kernel's view of compose projects: their members, and the operations on a running one. */
import type { ProjectEvent, ProjectView } from "../../abi/compose/compose.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Member } from "../../abi/member.ts";
import type { ProjectUp } from "../../kernel/ports/projects.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import type { ProjectFeed } from "./feed.ts";

/** What is kept of an ended project. */
export interface PastProject {
  readonly view: ProjectView;
  readonly feed: ProjectFeed;
}

export interface RunningProject extends PastProject {
  readonly name: string;
  /** The pid of its supervisor. */
  readonly pid: Pid;
  /** It is ending and accepts no more changes. */
  readonly isEnding: boolean;
  /** Resolves when all its processes are gone and its end has been published. */
  readonly over: Promise<void>;
  readonly members: readonly Member[];
  watch(): Subscription<ProjectEvent>;
  /** The feed for a client that repeats its `up` request. */
  rejoin(env: ProjectUp["env"]): Subscription<ProjectEvent>;
  /** Applies the present file: removed and replaced replicas are shut down first. CONFLICT: it has ended meanwhile. */
  change(request: ProjectUp): Promise<void>;
  /** Sends TERM, and KILL after `timeoutMs`. Resolves when nothing is left. */
  down(timeoutMs: number): Promise<void>;
  kill(): Promise<void>;
}

/** The place of a process in the tree. */
export interface Standing {
  readonly pid: Pid;
  readonly ppid: Pid;
}

export interface ProjectRoster {
  /** Its membership in a running project; undefined: none. Descendants and forks of a member are not members. */
  memberOf(proc: Standing): Member | undefined;
  /** The other members, if members may send messages to one another; else empty. */
  fellowsOf(proc: Standing): readonly Member[];
  /** Adds a running project that was restored from an earlier daemon. */
  enter(project: RunningProject): void;
}
