/** Compose projects as the wires see them (kernel reference, compose). `supervise` implements it. */
import type { ComposeProject, ProjectEvent, ProjectView } from "../../abi/compose/compose.ts";
import type { Pid } from "../../abi/ids.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { Subscription } from "./subscription.ts";

/** Where the compose file of a project is, for a later daemon. */
export interface ProjectSource {
  /** Absolute. */
  readonly path: string;
  /** The absolute base of relative paths in it; its last segment is the default name. */
  readonly dir: string;
  /** Overrides the name in the file; "": it does not. */
  readonly name: string;
}

export interface ProjectUp {
  readonly project: ComposeProject;
  /** Only these services and their dependencies; empty: all. NOT_FOUND for an unknown one. */
  readonly services: readonly string[];
  /** Stops services that run and are no longer in the file. */
  readonly removeOrphans: boolean;
  /** The environment of its agents, for model credentials; never journalled. */
  readonly env: Readonly<Record<string, string>>;
  /** Absent: unknown; a later daemon then does not start its services. */
  readonly source?: ProjectSource;
  /** The mark of the client's request, kept in the record of what it starts. */
  readonly request?: RequestMark;
}

export interface Projects {
  /**
   * Starts services that are not running, replaces changed ones. Resolves when the supervisor runs; the events begin
   * with `starting` and end with `done`, `failed` or `stopped`. Closing them ends nothing. `signal` cancels only the
   * wait for a project of this name that is being brought up or down: CANCELLED, and nothing was begun.
   */
  up(request: ProjectUp, signal?: AbortSignal): Promise<{ pid: Pid; events: Subscription<ProjectEvent> }>;
  /**
   * Follows a project that a request has brought up before: `up`, then new events, or its end. `env` as in `up`, for a
   * project that a later daemon has restored. CONFLICT: it has not ended, but is not running.
   */
  rejoin(name: string, pid: Pid, env: ProjectUp["env"]): Promise<Subscription<ProjectEvent>>;
  /**
   * Stops all services in reverse order, then the supervisor; kills what is left after `timeoutMs`. NOT_FOUND: not
   * running.
   */
  down(name: string, timeoutMs: number): Promise<void>;
  /** KILL to everything at once. NOT_FOUND. */
  kill(name: string): Promise<void>;
  /** NOT_FOUND: no such project, or it was forgotten: the last 32 that ended are remembered. */
  view(name: string): ProjectView;
  /** The newest `tail` lines of each child, merged in order, then new ones. NOT_FOUND. */
  logs(
    name: string,
    options: { services: readonly string[]; tail: number; follow: boolean },
  ): Promise<Subscription<ProjectEvent>>;
}
