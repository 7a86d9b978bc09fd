/** task_create: adds a task to the list that a group shares. */
import * as z from "zod";
import { askTasks, TASK_EFFECTS, TaskMeta, taskLine, tasksEnabled } from "../task-list.ts";
import { defineTool } from "../tool.ts";
import text from "./task_create.md";

const ids = z.array(z.string().max(15)).max(100).optional();
const Args = z.object({
  subject: z.string().min(1).max(200).describe("imperative"),
  description: z.string().max(10_000),
  active_form: z.string().max(200).optional(),
  metadata: z.record(z.string(), z.json()).optional(),
  blocks: ids,
  blocked_by: ids,
});

export const taskCreate = defineTool({
  name: "task_create",
  hint: "create task in shared list",
  text,
  args: Args,
  meta: TaskMeta,
  readOnly: true,
  interrupt: "block",
  destructive: () => false,
  enabled: tasksEnabled,
  effects: () => TASK_EFFECTS,
  view: ({ subject, description }) => ({ operation: `create task: ${subject}`, params: { description } }),
  about: (args) => String(args.subject),
  activity: ({ subject }) => `Noting: ${subject}`,
  run: (args, context) =>
    askTasks(context, { op: "create", ...given(args) } as never, ({ tasks }) => ({
      text: tasks.map((task) => `Created task ${taskLine(task)}`).join("\n"),
      facts: { now: tasks.map(({ id }) => `task ${id}`).join(", ") },
    })),
});

function given<T extends object>(args: T): T {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)) as T;
}
