/** stop: ends a descendant of the caller with all below it, and returns when they are gone. */
import * as z from "zod";
import { endTree, findTarget, treeNote } from "../child-process.ts";
import { failure } from "../failure.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./stop.md";

const Args = z.object({ to: z.string().min(1).max(64).describe("pid, agent-… or name") });
type Args = z.output<typeof Args>;

const Meta = z.strictObject({ pid: z.int(), reason: z.string() });

export const stop = defineTool({
  name: "stop",
  hint: "end child agent process",
  text,
  args: Args,
  meta: Meta,
  parallel: true,
  // only what the caller has started: the kernel refuses any other
  effects: ({ to }) => [{ kind: "state", path: `/proc/${to}` }],
  view: ({ to }) => ({ operation: `end process ${to}`, params: { to } }),
  about: (args) => String(args.to),
  activity: ({ to }) => `Ending process ${to}`,
  run,
});

async function run({ to }: Args, context: RunContext): Promise<Outcome> {
  const pid = await findTarget(context, to);
  if (pid === undefined) throw failure("NOT_FOUND", `stop: no agent is called ${to}`);
  const ended = await endTree(context, pid);
  const { exit, result } = ended;
  const said = result === "" ? "" : ` It said last:\n${result}`;
  return {
    text: `Process ${pid} has ended, with all below it (${exit.reason})${treeNote(ended)}.${said}`,
    meta: { pid, reason: exit.reason },
  };
}
