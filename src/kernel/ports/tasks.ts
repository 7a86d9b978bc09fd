/** Task lists, for screens. */
import type { Task, TaskListView } from "../../abi/task.ts";

export interface TaskDesk {
  lists(): Promise<readonly TaskListView[]>;
  /** Tasks by rising id; empty if there is no such list. INVALID: not a valid name of a list. */
  tasks(list: string): Promise<readonly Task[]>;
}
