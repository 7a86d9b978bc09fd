/** Parses what was written to /dev/shell: a command as text, or a JSON request. */
import { resolve } from "node:path";
import * as z from "zod";
import type { WritePlan } from "../../abi/device.ts";
import type { ShellRequest } from "../../abi/ops/fs.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { driverError } from "../driver-error.ts";
import { isDirectory } from "../program.ts";

const maxCommandChars = 32_768;
const maxTimeoutMs = 600_000;
const defaultTimeoutMs = 120_000;

const { exactOptional: may } = z;
const REQUEST = z.strictObject({
  command: z.string(),
  cwd: may(z.string().min(1)),
  env: may(z.record(z.string(), z.string())),
  timeout_ms: may(z.int().min(1).max(maxTimeoutMs)),
  merge: may(z.boolean()),
  unconfined: may(z.boolean()),
  auto_job: may(z.boolean()),
  job_after_ms: may(z.int().min(0).max(maxTimeoutMs)),
  at_timeout: may(z.enum(["end", "job"])),
  progress: may(z.boolean()),
});

export interface ShellRun {
  readonly command: string;
  /** Absolute path. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isMerged: boolean;
  /** True if the request is to run outside the sandbox. */
  readonly isUnconfined: boolean;
  /** True if the timeout ends it; otherwise it becomes a job then. */
  readonly endsAtTimeout: boolean;
  /** After how many ms it becomes a job; null: never. */
  readonly jobAfterMs: number | null;
  /** True if it becomes a job when it runs for long. */
  readonly isAutoJob: boolean;
  readonly tellsProgress: boolean;
  /** The format of the answer. */
  readonly form: "text" | "json";
}

/** A JSON object is a request, anything else is a command: a JSON object is never a valid bash command. */
export function parseRun(bytes: Uint8Array, cwd: string): ShellRun {
  const text = Buffer.from(bytes).toString("utf8");
  const object = findObject(text);
  const request: ShellRequest = object === undefined ? { command: text, merge: true } : parseRequest(object);
  if (request.command.trim() === "") throw invalid("the command is empty");
  if (request.command.includes("\0")) throw invalid("the command contains NUL");
  if (request.command.length > maxCommandChars)
    throw invalid(`the command is longer than ${maxCommandChars} characters`);
  if (request.cwd?.includes("\0")) throw invalid("cwd contains NUL");
  const timeoutMs = request.timeout_ms ?? defaultTimeoutMs;
  const becomesJob = request.at_timeout === "job";
  const jobAfterMs = Math.min(request.job_after_ms ?? Infinity, becomesJob ? timeoutMs : Infinity);
  if ((jobAfterMs !== Infinity || request.auto_job === true) && request.merge !== true)
    throw invalid("a job has one stream: merge must be true");
  return {
    command: request.command,
    cwd: resolve(cwd, request.cwd ?? "."),
    env: request.env ?? {},
    timeoutMs,
    isMerged: request.merge === true,
    isUnconfined: request.unconfined === true,
    endsAtTimeout: !becomesJob,
    jobAfterMs: jobAfterMs === Infinity ? null : jobAfterMs,
    isAutoJob: request.auto_job === true,
    tellsProgress: request.progress === true,
    form: object === undefined ? "text" : "json",
  };
}

export function planOf(run: ShellRun): WritePlan {
  const shell = withVariables(run);
  const argv = ["bash", "-c", shell];
  const outside = run.isUnconfined ? { unconfined: true as const } : {};
  return {
    effects: [{ kind: "exec", argv, cwd: run.cwd, certain: false, shell, ...outside }],
    effectClass: "once",
    tool: "bash",
    prepare: async () => {
      checkCwd(run.cwd);
      return undefined;
    },
  };
}

/** Variables change what a command does, so they are judged, shown and recorded with it, written as bash exports. */
function withVariables({ command, env }: ShellRun): string {
  const set = Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}\n`);
  return set.join("") + command;
}

export function checkCwd(cwd: string): void {
  if (!isDirectory(cwd)) throw driverError("Write", "NOT_FOUND", `working directory not found: ${cwd}`);
}

function findObject(text: string): object | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function parseRequest(object: object): ShellRequest {
  const parsed = REQUEST.safeParse(object);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const place = (issue?.path ?? []).map(String).join(".");
  throw invalid(`${place === "" ? "" : `${place}: `}${issue?.message ?? "invalid request"}`);
}

function invalid(message: string): Error {
  return driverError("Write", "INVALID", `shell: ${message}`);
}

/**
 * Adapts a request where background commands are switched off: a command that would become a job later ends at its
 * timeout. UNAVAILABLE: it asked to be a job from the start.
 */
export function withoutJobs(run: ShellRun): ShellRun {
  if (run.jobAfterMs !== 0) return { ...run, endsAtTimeout: true, jobAfterMs: null, isAutoJob: false };
  const message =
    "commands in the background are switched off (setting bash.background, or CRUX_DISABLE_BACKGROUND=1)";
  throw driverError("Write", "UNAVAILABLE", message);
}
