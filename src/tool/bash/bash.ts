/** bash: one command in a fresh shell, its whole output and how it ended. */
import * as z from "zod";
import { O_RDWR } from "../../abi/device.ts";
import { codeOf } from "../../abi/errors.ts";
import type { ShellAnswer, ShellRequest } from "../../abi/fs-ops.ts";
import type { Fd } from "../../abi/ids.ts";
import { cutEnds } from "../budget.ts";
import { readToEnd, withFile } from "../files.ts";
import { hostPath } from "../path.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./bash.md";

const MAX_RESULT_CHARS = 30_000;
/** Two MiB of output, escaped, and the fields about it. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const Args = z.object({
  command: z.string().min(1).max(32_768),
  description: z.string().max(120).optional().describe("what it does, in a few words"),
  working_dir: z.string().optional(),
  timeout: z.int().min(1).max(600_000).default(120_000).describe("milliseconds"),
});
type Args = z.output<typeof Args>;

export const bash = defineTool({
  name: "bash",
  hint: "run shell command",
  text,
  args: Args,
  maxResultChars: MAX_RESULT_CHARS,
  overflow: "ends",
  effectClass: "once",
  // whether it only reads is for the policy to say: it analyses the text
  effects: (args, scope) => [
    {
      kind: "exec",
      argv: ["bash", "-c", args.command],
      cwd: workingDir(args, scope),
      certain: false,
      shell: args.command,
    },
  ],
  view: (args, scope) => ({
    operation: args.command,
    params: {
      command: args.command,
      description: args.description,
      working_dir: args.working_dir === undefined ? undefined : workingDir(args, scope),
    },
  }),
  activity: (args) => args.description ?? `Running ${args.command}`,
  run,
});

function workingDir(args: Args, scope: { cwd: string }): string {
  return hostPath(args.working_dir ?? "", scope.cwd);
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const startMs = context.now();
  const request: ShellRequest = {
    command: args.command,
    cwd: workingDir(args, context),
    timeout_ms: args.timeout,
    merge: true,
  };
  const answer = await withFile(context, "/dev/shell", O_RDWR, (fd) => ask(context, fd, request));
  return {
    text: answer.output,
    ...ending(args, answer),
    meta: metaOf(args, context, answer, startMs),
    ...keptBy(answer),
  };
}

/** A long output is kept by the device itself, whether it had to leave out its middle or not. */
function keptBy(answer: ShellAnswer): Pick<Outcome, "kept"> {
  const { output, output_path: path, truncated: isPart, total_bytes: totalBytes } = answer;
  if (path === null && !isPart) return {};
  return { kept: { path: path ?? "", totalChars: isPart ? totalBytes : output.length, isPart } };
}

/** After an interrupt the device still tells what the command had printed, if it had begun. */
async function ask(context: RunContext, fd: Fd, request: ShellRequest): Promise<ShellAnswer> {
  let interruption: unknown;
  try {
    await context.sys.write(fd, Buffer.from(JSON.stringify(request)), context.signal);
  } catch (error) {
    if (codeOf(error) !== "CANCELLED") throw error;
    interruption = error;
  }
  try {
    // no signal: the run is over, and reading what it left behind ends by itself
    const bytes = await readToEnd(
      { sys: context.sys, signal: new AbortController().signal },
      fd,
      MAX_ANSWER_BYTES,
    );
    return JSON.parse(bytes.toString("utf8")) as ShellAnswer;
  } catch (error) {
    throw interruption ?? error;
  }
}

/** A command that ran did not fail as a call, whatever its exit code is. */
function ending(args: Args, answer: ShellAnswer): Pick<Outcome, "status" | "error"> {
  if (answer.timed_out) {
    const message = `the command was ended after ${args.timeout} ms`;
    return { error: { code: "TIMEOUT", message, hint: "Give it a longer timeout, or do less at a time" } };
  }
  if (answer.interrupted) return { error: { code: "CANCELLED", message: "the command was interrupted" } };
  if (answer.signal !== null) return { status: `Ended by signal ${answer.signal}` };
  if (answer.exit_code !== 0) return { status: `Exit code ${answer.exit_code}` };
  return answer.output === "" ? { status: "(no output)" } : {};
}

function metaOf(
  args: Args,
  context: RunContext,
  answer: ShellAnswer,
  startMs: number,
): Record<string, unknown> {
  return {
    output: cutEnds(answer.output, MAX_RESULT_CHARS / 2),
    exit_code: answer.exit_code,
    signal: answer.signal,
    interrupted: answer.interrupted,
    background: false,
    shell_id: null,
    // Unix seconds
    start_time: startMs / 1000,
    end_time: (startMs + answer.duration_ms) / 1000,
    duration: answer.duration_ms / 1000,
    working_directory: workingDir(args, context),
    output_path: answer.output_path,
    total_bytes: answer.total_bytes,
  };
}
