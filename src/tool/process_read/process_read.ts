/** process_read: what a program has printed since it was read last, after a wait for more. */
import * as z from "zod";
import { findNatives } from "../../abi/native/native-record.ts";
import {
  askProgram,
  findProgram,
  NativeMeta,
  ProgramRef,
  programOutcome,
  waitArgs,
  waitOf,
} from "../native.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./process_read.md";

const DEFAULT_WAIT_MS = 30_000;

const Args = z.object({
  id: ProgramRef.optional(),
  offset: z.int().optional().describe("byte to read from; negative: from the end"),
  ...waitArgs(DEFAULT_WAIT_MS),
});
type Args = z.output<typeof Args>;

export const processRead = defineTool({
  name: "process_read",
  hint: "read output of started program, wait for pattern or exit",
  text,
  args: Args,
  meta: NativeMeta.partial(),
  maxResultChars: 30_000,
  overflow: "ends",
  readOnly: true,
  parallel: true,
  destructive: () => false,
  effects: ({ id = "" }) => [{ kind: "state", path: `/dev/native/${id}` }],
  view: ({ id = "all programs" }) => ({ operation: `read the output of ${id}`, params: {} }),
  about: ({ id = "" }) => id,
  activity: ({ id = "programs" }) => `Reading ${id}`,
  run,
});

async function run(args: Args, context: RunContext): Promise<Outcome> {
  if (args.id === undefined) return list(context);
  const { pid } = findProgram(context, args.id);
  const { offset } = args;
  const wait = waitOf(args);
  const request = { op: "read", ...(offset === undefined ? {} : { offset }), wait } as const;
  return programOutcome(await askProgram(context, pid, request));
}

async function list({ kept, sys }: RunContext): Promise<Outcome> {
  const live = new Set((await sys.listProcs()).filter(({ exit }) => exit === null).map(({ pid }) => pid));
  const rows = findNatives(kept?.entries()).map(
    ({ id, pid, command, read_to: readTo }) =>
      `${id}  process ${pid}  ${live.has(pid) ? "running" : "ended"}  read to ${readTo}  ${command.join(" ")}`,
  );
  return { text: rows.length === 0 ? "No program was started." : rows.join("\n"), meta: {} };
}
