/** Shared by the task tools: one request to the caller's list, its refusal as a failure, tasks as lines. */
import * as z from "zod";
import type { Task, TaskAnswer, TaskRequest } from "../abi/task.ts";
import { askDevice } from "./device-json.ts";
import type { Outcome, RunContext, ToolEnv } from "./tool.ts";

export const TASKS_PATH = "/var/tasks";
export const TASK_EFFECTS = [{ kind: "state", path: TASKS_PATH }] as const;

/** Either the task tools are enabled, or todo. */
/** Whether they take the place of todo. A run has both: todo is sent with each request, the task tools are found. */
export function usesTasks({ env, isSession, tasks }: ToolEnv): boolean {
  if (tasks === "todo") return false;
  return isSession || env.CRUX_ENABLE_TASKS === "1";
}

export function tasksEnabled(env: ToolEnv): true | string {
  return env.tasks !== "todo" || 'the setting tasks is "todo": todo is used here';
}

export const TaskMeta = z.strictObject({
  list: z.string(),
  tasks: z.array(z.record(z.string(), z.unknown())),
  freed: z.array(z.string()).optional(),
});

export async function askTasks(
  context: RunContext,
  request: TaskRequest,
  render: (answer: Extract<TaskAnswer, { ok: true }>) => Pick<Outcome, "text" | "facts">,
): Promise<Outcome> {
  const answer = await askDevice<TaskAnswer>(context, TASKS_PATH, withoutAbsent(request));
  if (!answer.ok) {
    const { list, reason, message } = answer;
    const code = reason === "task_not_found" ? "NOT_FOUND" : "CONFLICT";
    return { text: "", error: { code, message, hint: HINTS[reason] }, meta: { list, tasks: [], reason } };
  }
  const { list, tasks, freed } = answer;
  return { ...render(answer), meta: { list, tasks, ...(freed === undefined ? {} : { freed }) } };
}

const HINTS = {
  task_not_found: "task_list shows those there are.",
  already_claimed: "Take another one: task_list.",
  already_resolved: "Take another one: task_list.",
  blocked: "Do first what it waits for, or take another one.",
  agent_busy: "Finish that one first.",
} as const;

function withoutAbsent(request: TaskRequest): object {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
}

/** `3 [in_progress, pid 7] Fix the parser (waits for 1, 2)` */
export function taskLine({ id, status, owner, subject, blocked_by: blockers }: Task): string {
  const whose = owner === undefined ? "" : `, pid ${owner}`;
  const waits = blockers.length === 0 ? "" : ` (waits for ${blockers.join(", ")})`;
  return `${id} [${status}${whose}] ${subject}${waits}`;
}

export function taskText(task: Task): string {
  const { description, blocks, metadata } = task;
  const lines = [taskLine(task)];
  if (blocks.length > 0) lines.push(`before ${blocks.join(", ")}`);
  if (description !== "") lines.push(description);
  if (metadata !== undefined) lines.push(JSON.stringify(metadata));
  return lines.join("\n");
}
