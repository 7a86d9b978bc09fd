/** stop: sends SIGTERM to a descendant of the caller. */
import * as z from "zod";
import { asPid } from "../../abi/ids.ts";
import { findPid } from "../../abi/member.ts";
import { SIGNALS } from "../../abi/process.ts";
import { findDescendant } from "../child-process.ts";
import { failure } from "../failure.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./stop.md";

const Args = z.object({ to: z.string().min(1).max(64).describe("pid") });
type Args = z.output<typeof Args>;

const Meta = z.strictObject({ pid: z.int(), disposition: z.string() });

export const stop = defineTool({
  name: "stop",
  hint: "end child agent process",
  text,
  args: Args,
  meta: Meta,
  parallel: true,
  effects: ({ to }) => [{ kind: "message", to, signal: "SIGTERM" }],
  view: ({ to }) => ({ operation: `end process ${to}`, params: { to } }),
  about: (args) => String(args.to),
  activity: ({ to }) => `Ending process ${to}`,
  run,
});

async function run({ to }: Args, { sys }: RunContext): Promise<Outcome> {
  const pid = findPid(to);
  if (pid === undefined) throw failure("INVALID", `stop: not a pid: ${to}`);
  const { exit } = await findDescendant(sys, pid);
  if (exit !== null) throw failure("CONFLICT", `process ${pid} has already ended (${exit.reason})`);
  const disposition = await sys.signal(asPid(pid), SIGNALS.SIGTERM);
  return { text: `Process ${pid} was told to end.`, meta: { pid, disposition } };
}
