/** Task lists as people see them. */
import type { Task, TaskListView } from "../../abi/task.ts";

export interface TaskDesk {
  lists(): Promise<readonly TaskListView[]>;
  /** In id order; none where there is no such list. INVALID: no name of a list. */
  tasks(list: string): Promise<readonly Task[]>;
}
