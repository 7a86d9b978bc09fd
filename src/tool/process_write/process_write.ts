/** process_write: types into a program and returns what it answers. Judged as the command that the program was started by. */
import * as z from "zod";
import type { Effect } from "../../abi/effects.ts";
import { findNative } from "../../abi/native/native-record.ts";
import {
  askProgram,
  findProgram,
  NativeMeta,
  ProgramRef,
  programOutcome,
  waitArgs,
  waitOf,
} from "../native.ts";
import { defineTool, type Outcome, type RunContext, type Scope } from "../tool.ts";
import text from "./process_write.md";

const DEFAULT_WAIT_MS = 3_000;

const Args = z.object({
  id: ProgramRef,
  data: z.string().max(60_000).describe("end a line with \\n"),
  eof: z.boolean().optional().describe("end its input"),
  ...waitArgs(DEFAULT_WAIT_MS),
});
type Args = z.output<typeof Args>;

export const processWrite = defineTool({
  name: "process_write",
  hint: "type into started program, send stdin input to repl debugger terminal",
  text,
  args: Args,
  meta: NativeMeta,
  maxResultChars: 30_000,
  overflow: "ends",
  effects: (args, scope) => [effectOf(args, scope)],
  view: ({ id, data, eof }, scope) => ({
    operation: `type into ${id}: ${JSON.stringify(data)}`,
    params: { program: commandOf(id, scope), input: data, ...(eof === true ? { eof: "yes" } : {}) },
  }),
  about: ({ id, data }) => `${id}: ${data.trimEnd()}`,
  activity: ({ id }) => `Typing into ${id}`,
  run,
});

function effectOf({ id }: Args, { kept }: Scope): Effect {
  const program = findNative(kept?.entries(), id);
  // the call then fails before it acts
  if (program === undefined) return { kind: "state", path: `/dev/native/${id}` };
  return { kind: "exec", argv: program.command, cwd: program.cwd, certain: true };
}

function commandOf(id: string, { kept }: Scope): string {
  return findNative(kept?.entries(), id)?.command.join(" ") ?? id;
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const { pid } = findProgram(context, args.id);
  const { data, eof } = args;
  const request = { op: "write", data, ...(eof === undefined ? {} : { eof }), wait: waitOf(args) } as const;
  return programOutcome(await askProgram(context, pid, request));
}
