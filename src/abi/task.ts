/** Tasks of a list that the processes of a group share, and the requests of its device. */
import type { Pid } from "./ids.ts";

export const TASK_STATUSES = ["pending", "in_progress", "completed"] as const;
type TaskStatus = (typeof TASK_STATUSES)[number];

/** `/var/tasks/<list>/<id>.json`. Ids are the decimal numbers 1, 2, 3 …, never used again. */
export interface Task {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly active_form?: string;
  /** A pid. */
  readonly owner?: string;
  readonly status: TaskStatus;
  /** Those that wait for it. */
  readonly blocks: readonly string[];
  readonly blocked_by: readonly string[];
  /** At most 16 KiB. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface TaskCreate {
  readonly op: "create";
  readonly subject: string;
  readonly description: string;
  readonly active_form?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly blocks?: readonly string[];
  readonly blocked_by?: readonly string[];
}

export interface TaskUpdate {
  readonly op: "update";
  readonly task_id: string;
  readonly subject?: string;
  readonly description?: string;
  readonly active_form?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status?: TaskStatus | "deleted";
  /** A pid; "": nobody's. */
  readonly owner?: string;
  readonly claim?: boolean;
  /** For a claim: only if the caller has no other unfinished task. */
  readonly check_agent_busy?: boolean;
  readonly add_blocks?: readonly string[];
  readonly add_blocked_by?: readonly string[];
  readonly remove_blocks?: readonly string[];
  readonly remove_blocked_by?: readonly string[];
}

/** Written to `/var/tasks` opened O_RDWR: the caller's own list. */
export type TaskRequest =
  | TaskCreate
  | TaskUpdate
  | { readonly op: "get"; readonly task_id: string }
  | { readonly op: "list"; readonly status?: TaskStatus; readonly owner?: string };

/** Why a claim was refused. */
export type ClaimReason =
  | "task_not_found"
  | "already_claimed"
  | "already_resolved"
  | "blocked"
  | "agent_busy";

export type TaskAnswer =
  | {
      readonly ok: true;
      readonly list: string;
      readonly tasks: readonly Task[];
      readonly freed?: readonly string[];
    }
  | { readonly ok: false; readonly list: string; readonly reason: ClaimReason; readonly message: string };

export interface TaskListView {
  readonly list: string;
  readonly open: number;
  readonly completed: number;
}

/** About the calling process: the list that its tasks are in, and who leads it. */
export interface TaskPlace {
  readonly list: string;
  readonly leader: Pid | null;
}
