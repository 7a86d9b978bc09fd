/** bash: runs one command in a fresh shell; returns its whole output and how it ended. */

import * as z from "zod";
import type { CallFacts } from "../../abi/call-note.ts";
import { O_RDWR } from "../../abi/device.ts";
import { codeOf } from "../../abi/errors.ts";
import type { Fd } from "../../abi/ids.ts";
import type { ShellAnswer, ShellProgress, ShellRequest } from "../../abi/ops/fs.ts";
import { plain } from "../../abi/sentence.ts";
import type { CommandProgress } from "../../abi/tool.ts";
import { ABORTED } from "../../lib/abort.ts";
import { cutEnds, endLine } from "../budget.ts";
import { failure } from "../failure.ts";
import { readToEnd, withFile } from "../files.ts";
import { hostPath } from "../path.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./bash.md";

const MAX_RESULT_CHARS = 30_000;
const DEFAULT_TIMEOUT_MS = 120_000;
/** One line of progress; it is always read whole. */
const PROGRESS_BYTES = 64 * 1024;
const PROGRESS_MS = 1_000;
/** 2 MiB of output, escaped, and the other fields. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const Args = z.object({
  command: z.string().min(1).max(32_768),
  description: z.string().max(120).optional(),
  working_dir: z.string().optional(),
  timeout: z.int().min(1).max(600_000).optional().describe("ms"),
  run_in_background: z.boolean().optional(),
  dangerouslyDisableSandbox: z.boolean().optional(),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({
  output: z.string(),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  interrupted: z.boolean(),
  background: z.boolean(),
  /** `job-3` */
  shell_id: z.string().nullable(),
  /** Unix seconds. */
  start_time: z.number(),
  end_time: z.number(),
  duration: z.number(),
  working_directory: z.string(),
  output_path: z.string().nullable(),
  total_bytes: z.int(),
});

export const bash = defineTool({
  name: "bash",
  hint: "run shell command",
  text,
  args: Args,
  meta: Meta,
  listed: "core",
  compactable: true,
  maxResultChars: MAX_RESULT_CHARS,
  overflow: "ends",
  effectClass: "once",
  // the policy decides whether the command only reads: it analyses the text
  effects: (args, scope) => [
    {
      kind: "exec",
      argv: ["bash", "-c", args.command],
      cwd: workingDir(args, scope),
      certain: false,
      shell: args.command,
      ...(args.dangerouslyDisableSandbox === true ? { unconfined: true as const } : {}),
    },
  ],
  view: (args, scope) => ({
    operation: args.command,
    params: {
      command: args.command,
      description: args.description,
      working_dir: args.working_dir === undefined ? undefined : workingDir(args, scope),
      run_in_background: args.run_in_background === true ? "yes" : undefined,
      ...(args.dangerouslyDisableSandbox === true ? { dangerouslyDisableSandbox: true } : {}),
    },
    ...(REMOVES.test(args.command) && { warnings: [plain("removes_files")] }),
  }),
  about: (args) => args.command,
  activity: (args) => args.description ?? `Running ${args.command}`,
  run,
});

function workingDir(args: Args, scope: { cwd: string }): string {
  return hostPath(args.working_dir ?? "", scope.cwd);
}

/** Only a hint in the dialog: the policy judges the command itself. */
const REMOVES = /(^|[\s;&|(`])(\S*\/)?rm(\s|$)/;
/** A plain sleep: the sleep tool does this without a background job. */
const PLAIN_SLEEP = /^\s*sleep\s+[\d.]+[smhd]?\s*$/;

async function run(args: Args, context: RunContext): Promise<Outcome> {
  if (args.run_in_background === true && PLAIN_SLEEP.test(args.command))
    throw failure("INVALID", "bash: a plain sleep is not run in the background", "Use the sleep tool.");
  const startMs = context.now();
  const request: ShellRequest = {
    command: args.command,
    cwd: workingDir(args, context),
    timeout_ms: args.timeout ?? DEFAULT_TIMEOUT_MS,
    merge: true,
    progress: true,
    ...(args.dangerouslyDisableSandbox === true ? { unconfined: true } : {}),
    ...background(args, context),
  };
  const answer = await withFile(context, "/dev/shell", O_RDWR, (fd) => ask(context, fd, request));
  const meta = metaOf(answer, startMs, workingDir(args, context));
  const facts = factsOf(answer);
  if (answer.job !== null) return { ...startedJob(args, answer), meta, facts };
  return { text: told(answer), ...ending(request, answer), meta, facts, ...keptBy(answer) };
}

function told({ output, altered }: ShellAnswer): string {
  return altered === undefined ? output : `${endLine(output)}[${altered}]`;
}

/** When the command becomes a background job. A requested timeout always ends it. */
function background(
  { run_in_background: isWanted, timeout, command }: Args,
  { isSession, interactive }: RunContext,
): Pick<ShellRequest, "job_after_ms" | "at_timeout" | "auto_job"> {
  if (isWanted === true) return { job_after_ms: 0, ...(timeout === undefined ? { at_timeout: "job" } : {}) };
  if (PLAIN_SLEEP.test(command)) return {};
  return {
    ...(isSession && interactive ? { auto_job: true } : {}),
    ...(timeout === undefined ? { at_timeout: "job" } : {}),
  };
}

function startedJob(args: Args, answer: ShellAnswer): Outcome {
  const started = `Job started in background. ID: ${answer.job}`;
  if (args.run_in_background === true) return { text: "", status: started };
  const seconds = Math.round(answer.duration_ms / 1000);
  return { text: told(answer), status: `It still runs after ${seconds} s. ${started}`, ...keptBy(answer) };
}

/** The device itself stores a long output, whether or not it had to leave out the middle. */
function keptBy(answer: ShellAnswer): Pick<Outcome, "kept"> {
  const { output, output_path: path, truncated: isPart, total_bytes: totalBytes } = answer;
  if (path === null && !isPart) return {};
  return { kept: { path: path ?? "", totalChars: isPart ? totalBytes : output.length, isPart } };
}

/** After an interrupt, the device still returns what the command had printed, if it had started. */
async function ask(context: RunContext, fd: Fd, request: ShellRequest): Promise<ShellAnswer> {
  let interruption: unknown;
  const over = new AbortController();
  const written = context.sys.write(fd, Buffer.from(JSON.stringify(request)), context.signal);
  const following = follow(context, fd, over.signal);
  try {
    await written;
  } catch (error) {
    if (codeOf(error) !== "CANCELLED") throw error;
    interruption = error;
  } finally {
    over.abort(ABORTED);
  }
  const begun = await following;
  try {
    // no signal: the run is over, and reading its remaining output ends by itself
    const rest = await readToEnd(
      { sys: context.sys, signal: new AbortController().signal },
      fd,
      MAX_ANSWER_BYTES,
    );
    return JSON.parse(Buffer.concat([begun, rest]).toString("utf8")) as ShellAnswer;
  } catch (error) {
    throw interruption ?? error;
  }
}

/** Passes on the progress of the command. Returns the part of its answer that was already read. */
async function follow(context: RunContext, fd: Fd, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    let line: Uint8Array;
    try {
      // no progress for a short command; after this wait it has started
      await context.sys.sleep(PROGRESS_MS, signal, { pid: context.pid });
      line = await context.sys.read(fd, PROGRESS_BYTES, signal);
    } catch {
      return Buffer.alloc(0);
    }
    const progress = findProgress(line);
    if (progress === undefined) return Buffer.from(line);
    context.progress({ ...progress });
  }
}

function findProgress(line: Uint8Array): CommandProgress | undefined {
  const text = Buffer.from(line).toString("utf8");
  return text.startsWith('{"progress":') ? (JSON.parse(text) as ShellProgress).progress : undefined;
}

/** A command that ran is not a failed call, whatever its exit code. */
function ending(
  { timeout_ms: timeoutMs }: ShellRequest,
  answer: ShellAnswer,
): Pick<Outcome, "status" | "error"> {
  if (answer.timed_out) {
    const message = `the command was ended after ${timeoutMs} ms`;
    return { error: { code: "TIMEOUT", message, hint: "Give it a longer timeout, or do less at a time" } };
  }
  if (answer.interrupted) return { error: { code: "CANCELLED", message: "the command was interrupted" } };
  const refusal = typeof answer.sandbox !== "string" ? "" : `\n${answer.sandbox}`;
  if (answer.signal !== null) return { status: `Ended by signal ${answer.signal}${refusal}` };
  if (answer.exit_code !== 0) return { status: `Exit code ${answer.exit_code}${refusal}` };
  if (answer.output === "") return { status: `(no output)${refusal}` };
  return refusal === "" ? {} : { status: refusal.trim() };
}

function factsOf({ job, signal, exit_code: exit }: ShellAnswer): CallFacts {
  if (job !== null) return { job };
  if (signal !== null) return { signal };
  return exit === null ? {} : { exit };
}

function metaOf(answer: ShellAnswer, startMs: number, cwd: string): Record<string, unknown> {
  return {
    output: cutEnds(answer.output, MAX_RESULT_CHARS / 2),
    exit_code: answer.exit_code,
    signal: answer.signal,
    interrupted: answer.interrupted,
    background: answer.job !== null,
    shell_id: answer.job,
    start_time: startMs / 1000,
    end_time: (startMs + answer.duration_ms) / 1000,
    duration: answer.duration_ms / 1000,
    working_directory: cwd,
    output_path: answer.output_path,
    total_bytes: answer.total_bytes,
  };
}
