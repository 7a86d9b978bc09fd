/** supervise: starts agents below the caller that are started again when they fail. */
import * as z from "zod";
import type { SupervisorSpec } from "../../abi/supervise.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./supervise.md";

const MAX_CHILDREN = 16;

const Child = z.object({
  id: z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/),
  intent: z.string().min(1).max(32_000).describe("what it is to do"),
  agent: z.string().min(1).max(64).optional().describe("agent file; default: the general one"),
  restart: z.enum(["permanent", "transient", "temporary"]).default("transient"),
});

const Args = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/),
  children: z.array(Child).min(1).max(MAX_CHILDREN),
  strategy: z.enum(["one_for_one", "one_for_all", "rest_for_one"]).default("one_for_one"),
  max_restarts: z.int().min(0).max(20).default(5).describe("in a minute"),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({ pid: z.int() });

export const supervise = defineTool({
  name: "supervise",
  hint: "start child agents, restart those that fail",
  text,
  args: Args,
  meta: Meta,
  effects: ({ children }) =>
    children.map(({ agent = "" }) => ({ kind: "spawn", program: agent, background: true })),
  view: ({ name, children }) => ({
    operation: `start ${children.length} supervised agents: ${name}`,
    params: { agents: children.map(({ id, agent, intent }) => `${id} (${agent ?? "general"}): ${intent}`) },
  }),
  about: ({ name }) => name,
  activity: ({ name }) => `Starting ${name}`,
  run,
});

async function run(args: Args, { sys }: RunContext): Promise<Outcome> {
  const pid = await sys.spawnSupervisor(specOf(args));
  return {
    text: `Process ${pid} supervises ${args.children.map(({ id }) => id).join(", ")}. /proc/${pid}/supervisor shows them.`,
    meta: { pid },
  };
}

function specOf({ name, children, strategy, max_restarts: maxRestarts }: Args): SupervisorSpec {
  return {
    name,
    strategy,
    intensity: { maxRestarts, windowMs: 60_000 },
    exitWhenDone: true,
    children: children.map(({ id, intent, agent, restart }) => ({
      id,
      restart,
      start: agent === undefined ? { intent } : { intent, agent },
    })),
  };
}
