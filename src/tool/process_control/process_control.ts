/** process_control: signals a program, or changes the size of its window. */
import * as z from "zod";
import { codeOf } from "../../abi/errors.ts";
import { SIGNALS } from "../../abi/process.ts";
import { badArguments } from "../failure.ts";
import { askProgram, findProgram, NativeMeta, ProgramRef, programOutcome } from "../native.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./process_control.md";

/** After TERM a program is killed within 5 s. */
const END_MS = 10_000;
const ENDING: ReadonlySet<string> = new Set(["TERM", "KILL"]);

const Args = z.object({
  id: ProgramRef,
  signal: z.enum(["INT", "TERM", "KILL", "PAUSE", "RESUME"]).optional(),
  cols: z.int().min(1).max(1_000).optional(),
  rows: z.int().min(1).max(1_000).optional(),
});
type Args = z.output<typeof Args>;

export const processControl = defineTool({
  name: "process_control",
  hint: "signal interrupt pause end started program, resize terminal window",
  text,
  args: Args,
  meta: NativeMeta,
  // only what the caller has started: the kernel refuses any other
  effects: ({ id }) => [{ kind: "state", path: `/dev/native/${id}` }],
  view: ({ id, signal }) => ({
    operation: signal === undefined ? `resize the window of ${id}` : `send ${signal} to ${id}`,
    params: {},
  }),
  about: ({ id, signal }) => `${id} ${signal ?? "window"}`,
  activity: ({ id, signal }) => (signal === undefined ? `Resizing ${id}` : `Sending ${signal} to ${id}`),
  run,
});

async function run({ id, signal, cols, rows }: Args, context: RunContext): Promise<Outcome> {
  if ((signal === undefined) === (cols === undefined) || (cols === undefined) !== (rows === undefined))
    throw badArguments("process_control: either signal, or cols and rows");
  const { pid } = findProgram(context, id);
  if (cols !== undefined && rows !== undefined)
    return programOutcome(await askProgram(context, pid, { op: "resize", cols, rows }));
  const { sys } = context;
  await sys.kill(pid, SIGNALS[`SIG${signal ?? "TERM"}`]).catch((error: unknown) => {
    // it has left the table: the answer says how it ended
    if (codeOf(error) !== "NOT_FOUND") throw error;
  });
  const timeoutMs = ENDING.has(signal ?? "") ? END_MS : 0;
  return programOutcome(await askProgram(context, pid, { op: "read", wait: { timeout_ms: timeoutMs } }));
}
