/** task_update: changes, claims, completes or deletes a task. */
import * as z from "zod";
import { TASK_STATUSES, type TaskAnswer } from "../../abi/task.ts";
import { askTasks, TASK_EFFECTS, TaskMeta, taskLine, tasksEnabled } from "../task-list.ts";
import { defineTool } from "../tool.ts";
import text from "./task_update.md";

const ids = z.array(z.string().max(15)).max(100).optional();
const Args = z.object({
  task_id: z.string().min(1).max(15),
  subject: z.string().min(1).max(200).optional(),
  description: z.string().max(10_000).optional(),
  active_form: z.string().max(200).optional(),
  metadata: z.record(z.string(), z.json()).optional(),
  status: z.enum([...TASK_STATUSES, "deleted"]).optional(),
  owner: z.string().max(64).optional().describe("pid or member"),
  claim: z.boolean().optional().describe("take it"),
  check_agent_busy: z.boolean().optional(),
  add_blocks: ids,
  add_blocked_by: ids,
  remove_blocks: ids,
  remove_blocked_by: ids,
});

export const taskUpdate = defineTool({
  name: "task_update",
  hint: "update claim complete delete task",
  text,
  args: Args,
  meta: TaskMeta,
  readOnly: true,
  interrupt: "block",
  destructive: ({ status }) => status === "deleted",
  enabled: tasksEnabled,
  effects: () => TASK_EFFECTS,
  view: ({ task_id: id, ...change }) => ({ operation: `change task ${id}`, params: change }),
  about: (args) => String(args.task_id),
  activity: ({ task_id: id }) => `Updating task ${id}`,
  run: (args, context) =>
    askTasks(context, { op: "update", ...args } as never, (answer) => ({
      text: changed(args.status, answer),
      facts: { now: args.status ?? answer.tasks.map(({ status }) => status).join(", ") },
    })),
});

function changed(
  status: string | undefined,
  { tasks, freed = [] }: Extract<TaskAnswer, { ok: true }>,
): string {
  const lines = tasks.map((task) =>
    status === "deleted" ? `Deleted task ${task.id}.` : `Task ${taskLine(task)}`,
  );
  if (freed.length > 0)
    lines.push(`Nothing holds back ${freed.map((id) => `task ${id}`).join(", ")} any more.`);
  if (status === "completed") lines.push("Call task_list for what is next.");
  return lines.join("\n");
}
