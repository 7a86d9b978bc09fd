/** todo: the plan of the process; each call replaces the whole list. */
import * as z from "zod";
import { TASK_STATUSES } from "../../abi/task.ts";
import { askDevice } from "../device-json.ts";
import { failure } from "../failure.ts";
import { usesTasks } from "../task-list.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./todo.md";

/** A completed list of at least this many steps, none of them a verification, gets a reminder to verify. */
const NUDGED_FROM = 3;

const Item = z.strictObject({
  content: z.string().min(1).max(1000),
  status: z.enum(TASK_STATUSES),
  active_form: z.string().max(200),
});
const Args = z.object({ todos: z.array(Item).max(100) });
type Args = z.output<typeof Args>;

const Meta = z.strictObject({ todos: z.array(Item), completed: z.int(), total: z.int() });

export const todo = defineTool({
  name: "todo",
  hint: "todo list plan steps progress",
  text,
  args: Args,
  meta: Meta,
  listed: "core",
  readOnly: true,
  interrupt: "block",
  destructive: () => false,
  enabled: (env) => !usesTasks(env) || "tasks are used here: task_create, task_list, task_update",
  effects: () => [{ kind: "state", path: "/dev/todo" }],
  view: ({ todos }) => ({ operation: `write down ${todos.length} steps`, params: {} }),
  activity: ({ todos }) => todos.find(({ status }) => status === "in_progress")?.active_form ?? "Planning",
  run,
});

async function run({ todos }: Args, context: RunContext): Promise<Outcome> {
  const active = todos.filter(({ status }) => status === "in_progress");
  if (active.length > 1) throw severalActive(active.map(({ content }) => content));
  await askDevice(context, "/dev/todo", todos);
  const completed = todos.filter(({ status }) => status === "completed").length;
  const isDone = todos.length > 0 && completed === todos.length;
  const meta = { todos: isDone ? [] : todos, completed, total: todos.length };
  const said = isDone
    ? "All steps are done; the list is empty now."
    : `${completed} of ${todos.length} steps are done.`;
  const isUnchecked =
    isDone && todos.length >= NUDGED_FROM && !todos.some(({ content }) => /verif/i.test(content));
  // for a child process, the parent verifies
  const nudge = isUnchecked && context.isSession ? ` ${NUDGE}` : "";
  return { text: `${said}${nudge}`, meta, facts: { done: { n: completed, of: todos.length } } };
}

const SHOWN_CHARS = 60;

function severalActive(names: readonly string[]): Error {
  const shown = names.map((name) => JSON.stringify(name.slice(0, SHOWN_CHARS).toWellFormed())).join(", ");
  const message = `${names.length} steps are in progress: ${shown}. One at a time: set the others to pending, or completed if they are done. The list is as it was`;
  return failure("INVALID", message);
}

const NUDGE =
  "None of them verified the work. Before you report it as done, have it verified: start an agent that checks it on its own.";
