/** Task lists, each shared by the processes of a group, and the requests of their device. */
import type { Pid } from "./ids.ts";
import type { Label } from "./labels.ts";

export const TASK_STATUSES = ["pending", "in_progress", "completed"] as const;
type TaskStatus = (typeof TASK_STATUSES)[number];

/** One task, at `/var/tasks/<list>/<id>.json`. Ids are the decimal numbers 1, 2, 3 …, never reused. */
export interface Task {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly active_form?: string;
  /** The pid of the owner. */
  readonly owner?: string;
  readonly status: TaskStatus;
  /** The ids of the tasks that wait for this one. */
  readonly blocks: readonly string[];
  readonly blocked_by: readonly string[];
  /** At most 16 KiB. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Of the processes that have written in it. Absent: none. */
  readonly labels?: readonly Label[];
  /** Free since the end of its owner, `<pid> <key of the notice>`, until the leader is on record as told. */
  readonly left?: string;
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
  /** The pid of the new owner; "": no owner. */
  readonly owner?: string;
  readonly claim?: boolean;
  /** With `claim`: refuse if the caller has another unfinished task. */
  readonly check_agent_busy?: boolean;
  readonly add_blocks?: readonly string[];
  readonly add_blocked_by?: readonly string[];
  readonly remove_blocks?: readonly string[];
  readonly remove_blocked_by?: readonly string[];
}

/** A request on the caller's own list: written to `/var/tasks`, opened with O_RDWR. */
export type TaskRequest =
  | TaskCreate
  | TaskUpdate
  /** Removes all tasks; only for the leader. */
  | { readonly op: "clear" }
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

/** The task list of the calling process, and the pid that leads it. */
export interface TaskPlace {
  readonly list: string;
  readonly leader: Pid | null;
  /** The members of its team, without the lead; absent: it is in no team. */
  readonly members?: readonly { readonly pid: Pid; readonly name: string; readonly isIdle: boolean }[];
}
