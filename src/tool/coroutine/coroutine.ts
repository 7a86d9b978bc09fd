/** coroutine: a second line of thought with a conversation of its own, which works only while it is asked. */
import * as z from "zod";
import { asCoId } from "../../abi/ids.ts";
import { badArguments } from "../failure.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./coroutine.md";

const Args = z.object({
  op: z.enum(["spawn", "resume", "cancel"]),
  intent: z.string().min(1).max(32_000).optional().describe("spawn: its task"),
  max_turns: z.int().min(1).optional().describe("spawn: steps for each answer"),
  id: z.int().min(1).optional().describe("resume, cancel: which"),
  value: z.string().min(1).max(100_000).optional().describe("resume: what to answer"),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({ id: z.int(), state: z.enum(["new", "waiting", "cancelled"]) });

export const coroutine = defineTool({
  name: "coroutine",
  hint: "keep second conversation, ask it step by step",
  text,
  args: Args,
  meta: Meta,
  // the calls of the coroutine are judged one by one, and starting it changes nothing outside this process
  readOnly: true,
  destructive: () => false,
  effects: () => [{ kind: "state", path: "/proc/self/coroutines" }],
  view: ({ op, id, intent, value }) => ({
    operation: op === "spawn" ? "start a coroutine" : `${op} coroutine ${id}`,
    params: { ...(intent === undefined ? {} : { intent }), ...(value === undefined ? {} : { value }) },
  }),
  about: ({ op, intent, id }) => `${op} ${intent ?? id ?? ""}`.trimEnd(),
  activity: ({ op, id }) => (op === "resume" ? `Asking coroutine ${id}` : `Coroutines: ${op}`),
  run,
});

async function run(args: Args, { sys, signal }: RunContext): Promise<Outcome> {
  const { op, intent, max_turns: maxTurns } = args;
  if (op === "spawn") {
    if (intent === undefined) throw badArguments("coroutine: spawn needs an intent");
    const id = await sys.spawnCoroutine({ intent, ...(maxTurns === undefined ? {} : { maxTurns }) });
    return { text: `Coroutine ${id} waits for its first value.`, meta: { id, state: "new" } };
  }
  if (args.id === undefined) throw badArguments(`coroutine: ${op} needs an id`);
  const id = asCoId(args.id);
  if (op === "cancel") {
    await sys.cancelCoroutine(id);
    return { text: `Coroutine ${id} has ended.`, meta: { id, state: "cancelled" } };
  }
  if (args.value === undefined) throw badArguments("coroutine: resume needs a value");
  const { value } = await sys.resumeCoroutine<string, string, string>(id, args.value, signal);
  return { text: value === "" ? "It answered without words." : value, meta: { id, state: "waiting" } };
}
