/** task_get: all details of one task of the list. */
import * as z from "zod";
import { askTasks, TASK_EFFECTS, TaskMeta, tasksEnabled, taskText } from "../task-list.ts";
import { defineTool } from "../tool.ts";
import text from "./task_get.md";

const Args = z.object({ task_id: z.string().min(1).max(15) });

export const taskGet = defineTool({
  name: "task_get",
  hint: "show one task",
  text,
  args: Args,
  meta: TaskMeta,
  readOnly: true,
  parallel: true,
  destructive: () => false,
  enabled: tasksEnabled,
  effects: () => TASK_EFFECTS,
  view: ({ task_id: id }) => ({ operation: `show task ${id}`, params: {} }),
  about: (args) => String(args.task_id),
  activity: ({ task_id: id }) => `Reading task ${id}`,
  run: ({ task_id: id }, context) =>
    askTasks(context, { op: "get", task_id: id }, ({ tasks }) => ({
      text: tasks.map(taskText).join("\n"),
      facts: { now: tasks.map(({ status }) => status).join(", ") },
    })),
});
