/** task_list: shows the tasks of the list, ordered by id. */
import * as z from "zod";
import { TASK_STATUSES } from "../../abi/task.ts";
import { askTasks, TASK_EFFECTS, TaskMeta, taskLine, tasksEnabled } from "../task-list.ts";
import { defineTool } from "../tool.ts";
import text from "./task_list.md";

const Args = z.object({
  status: z.enum(TASK_STATUSES).optional(),
  owner: z.string().max(15).optional().describe("pid"),
});

export const taskList = defineTool({
  name: "task_list",
  hint: "list tasks of group",
  text,
  args: Args,
  meta: TaskMeta,
  readOnly: true,
  parallel: true,
  destructive: () => false,
  enabled: tasksEnabled,
  effects: () => TASK_EFFECTS,
  view: () => ({ operation: "list the tasks", params: {} }),
  activity: () => "Reading the tasks",
  run: ({ status, owner }, context) => {
    const wanted = { ...(status === undefined ? {} : { status }), ...(owner === undefined ? {} : { owner }) };
    return askTasks(context, { op: "list", ...wanted }, ({ tasks }) => ({
      text: tasks.length === 0 ? "No tasks." : tasks.map(taskLine).join("\n"),
      facts: { count: { n: tasks.length, of: "task" } },
    }));
  },
});
