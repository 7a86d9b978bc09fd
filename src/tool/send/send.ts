/** send: words for another process, or for all of a group. */
import * as z from "zod";
import { asPid } from "../../abi/ids.ts";
import { parseChild } from "../child-process.ts";
import { failure } from "../failure.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./send.md";

const Args = z.object({
  to: z.string().min(1).max(64).describe("pid, group name, or * for the own groups"),
  message: z.string().min(1).max(100_000),
  summary: z.string().max(120).optional().describe("in a few words"),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({ to: z.array(z.int()) });

export const send = defineTool({
  name: "send",
  hint: "message to another agent or group",
  text,
  args: Args,
  meta: Meta,
  effects: ({ to }) => [{ kind: "message", to }],
  view: ({ to, message, summary }) => ({
    operation: `message to ${to}${summary === undefined ? "" : `: ${summary}`}`,
    params: { to, message },
  }),
  about: (args) => String(args.to),
  activity: ({ to }) => `Writing to ${to}`,
  run,
});

async function run({ to, message }: Args, context: RunContext): Promise<Outcome> {
  const { sys, signal } = context;
  const pids = (await receivers(to, context)).filter((pid) => pid !== Number(sys.getPid()));
  if (pids.length === 0) throw failure("NOT_FOUND", `nobody to send to: ${to}`);
  const data = new TextEncoder().encode(message);
  const reached: number[] = [];
  for (const pid of pids) {
    await sys.send(asPid(pid), data, signal);
    reached.push(pid);
  }
  return { text: `Sent to ${reached.map((pid) => `pid ${pid}`).join(", ")}.`, meta: { to: reached } };
}

async function receivers(to: string, { sys }: RunContext): Promise<readonly number[]> {
  const pid = parseChild(to);
  if (pid !== undefined) {
    if (pid === Number(sys.getPid())) throw failure("INVALID", "send: a process does not write to itself");
    return [pid];
  }
  if (to !== "*") return (await sys.getProcGroup(to)).map(Number);
  const self = (await sys.listProcs()).find((proc) => proc.pid === sys.getPid());
  const members = await Promise.all((self?.groups ?? []).map((group) => sys.getProcGroup(group)));
  return [...new Set(members.flat().map(Number))];
}
