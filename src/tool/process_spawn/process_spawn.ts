/** process_spawn: starts a program of the host that goes on, to be watched and talked to. */
import { basename } from "node:path/posix";
import * as z from "zod";
import type { Effect } from "../../abi/effects.ts";
import { findNatives } from "../../abi/native/native-record.ts";
import { SIGNALS } from "../../abi/process.ts";
import { askProgram, NativeMeta, programOutcome, waitArgs, waitOf } from "../native.ts";
import { hostPath } from "../path.ts";
import { defineTool, type Outcome, type RunContext, type Scope } from "../tool.ts";
import text from "./process_spawn.md";

const DEFAULT_WAIT_MS = 3_000;

const Args = z.object({
  command: z.array(z.string().max(32_768)).min(1).max(256).describe("argv, no shell"),
  id: z
    .string()
    .regex(/^[A-Za-z0-9._:/-]{1,128}$/)
    .optional()
    .describe("a name for it"),
  working_dir: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  pty: z.boolean().optional().describe("on a terminal: for REPLs, debuggers, prompts"),
  cols: z.int().min(1).max(1_000).default(80),
  rows: z.int().min(1).max(1_000).default(24),
  term: z.string().max(64).default("dumb"),
  memory: z.int().min(1).max(1_048_576).optional().describe("limit, MiB"),
  tell: z.string().min(1).max(1_000).optional().describe("regex: a message tells you when output matches"),
  ...waitArgs(DEFAULT_WAIT_MS),
});
type Args = z.output<typeof Args>;

export const processSpawn = defineTool({
  name: "process_spawn",
  hint: "start interactive program: repl debugger server build, terminal pty stdin",
  text,
  args: Args,
  meta: NativeMeta,
  maxResultChars: 30_000,
  overflow: "ends",
  effects: (args, scope) => [effectOf(args, scope)],
  view: (args, scope) => ({
    operation: `start ${args.command.join(" ")}`,
    params: {
      command: args.command.join(" "),
      working_dir: hostPath(args.working_dir ?? "", scope.cwd),
      ...(args.env === undefined ? {} : { env: args.env }),
      ...(args.pty === true ? { terminal: "yes" } : {}),
    },
  }),
  about: ({ command }) => command.join(" "),
  activity: ({ command }) => `Starting ${command.join(" ")}`,
  run,
});

/** As the kernel sees the start: variables stand before the command. */
function effectOf({ command, env = {}, working_dir: dir }: Args, { cwd }: Scope): Effect {
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const argv = set.length === 0 ? command : ["env", ...set, ...command];
  return { kind: "exec", argv, cwd: hostPath(dir ?? "", cwd), certain: true };
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const { sys } = context;
  const { command, env, pty, cols, rows, term, memory, tell } = args;
  const pid = await sys.spawn("", null, {
    command,
    cwd: hostPath(args.working_dir ?? "", context.cwd),
    options: {
      id: args.id ?? freeName(command[0] ?? "", context),
      stdin: "pipe",
      ...(env === undefined ? {} : { env }),
      ...(pty === true ? { pty: { cols, rows, term } } : {}),
      ...(memory === undefined ? {} : { memoryBytes: memory * 1024 * 1024 }),
    },
  });
  const watch = { op: "watch", ...(tell === undefined ? {} : { tell }), wait: waitOf(args) } as const;
  try {
    return programOutcome(await askProgram(context, pid, watch));
  } catch (error) {
    // what is not watched could not be named again
    if (!isWatched(pid, context)) await sys.signal(pid, SIGNALS.SIGKILL).catch(() => {});
    throw error;
  }
}

function isWatched(pid: number, { kept }: Scope): boolean {
  return findNatives(kept?.entries()).some((record) => record.pid === pid);
}

/** `python3-2`: not the name of another that is remembered. */
function freeName(program: string, { kept }: Scope): string {
  const stem = basename(program)
    .replaceAll(/[^A-Za-z0-9._-]/g, "_")
    .slice(0, 64);
  const taken = new Set(findNatives(kept?.entries()).map(({ id }) => id));
  for (let n = 1; ; n++) if (!taken.has(`${stem}-${n}`)) return `${stem}-${n}`;
}
