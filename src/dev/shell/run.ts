/**
 * One request for a command, from start to answer: until the command has ended, or has become a job of its process.
 */
import { constants } from "node:os";
import type { Act, Caller } from "../../abi/device.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import type { ShellAnswer } from "../../abi/ops/fs.ts";
import type { Clock } from "../../abi/program.ts";
import type { HostExec } from "../../kernel/ports/host.ts";
import { ABORTED } from "../../lib/abort.ts";
import type { RedactedBytes } from "../../lib/redact/bytes.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { driverError } from "../driver-error.ts";
import { OUT_MOUNT, type OutputStore } from "../out/output-store.ts";
import type { Captured } from "./capture.ts";
import { Command, type CommandEnd } from "./command.ts";
import type { Jobs } from "./jobs.ts";
import type { ShellRun } from "./request.ts";
import { tellViolation, violationWords } from "./violation.ts";

export interface ShellDeps {
  readonly exec: HostExec;
  readonly outputs: OutputStore;
  /** Makes a filter that removes secrets from a command's output. Absent: nothing is removed. */
  readonly redacted?: () => RedactedBytes;
  /** The socket path of a process, passed to its commands as CRUX_IPC_SOCKET and KAIRO_IPC_SOCKET. */
  socketOf(uuid: ProcUuid): string;
  /** Names of environment variables that a command gets although they look like secrets. Absent: none. */
  passes?(command: string, cwd: string): (name: string) => boolean;
  /** Absent: commands cannot run in the background. */
  readonly jobs?: Jobs;
  /**
   * Whether commands may run in the background; the settings or the caller's environment can switch it off. Absent:
   * they may.
   */
  readonly mayBackground?: (env: Caller["env"]) => boolean;
  /** After how many ms a command of a session with a user attached becomes a job; default: a minute. */
  readonly autoJobMs?: number;
  /** Default: the machine's clock. */
  readonly clock?: Pick<Clock, "now" | "mono" | "sleep">;
}

/** The caller of a command, and the call that runs it. */
export interface Calling {
  readonly caller: Caller;
  readonly act: Pick<Act, "callId" | "sandbox" | "env" | "showsSecrets" | "attend">;
  /** Each of these ends the command, unless it has become a job. */
  readonly ofCall: readonly AbortSignal[];
  /** Called once the command has started. */
  onStart(command: Command): void;
}

/**
 * Resolves when the command and everything it started have ended, or when it has become a job. A signal of the call
 * ends it: the answer then says `interrupted`. DRIVER: bash did not start; BUDGET: too many jobs; the command was not
 * started, or was ended.
 */
export async function runShell(deps: ShellDeps, run: ShellRun, calling: Calling): Promise<ShellAnswer> {
  const { caller } = calling;
  if (run.jobAfterMs === 0) deps.jobs?.of(caller).checkRoom();
  const command = new Command(deps, run, calling);
  calling.onStart(command);
  const end = await Promise.race([command.ended, untilJob(deps, command)]);
  if (end === "job" && deps.jobs !== undefined && !command.hasEnded && !command.isStopped) {
    const id = await deps.jobs.of(caller).adopt(command);
    const answer = answerOf(deps, command, { code: null, signal: null });
    command.capture.dropParts();
    return { ...answer, interrupted: false, job: id };
  }
  const over = end === "job" ? await command.ended : end;
  command.capture.close();
  if (over.error !== undefined && !command.isStopped) throw notStarted(over.error);
  const answer = answerOf(deps, command, over);
  if (typeof answer.sandbox === "string") tellViolation(caller, answer.sandbox);
  return answer;
}

/** A sandbox error (UNAVAILABLE) is passed on unchanged. */
function notStarted(error: Error): Error {
  if ("code" in error && error.code === "UNAVAILABLE") return error;
  return driverError("Write", "DRIVER", `bash did not start: ${error.message}`, error);
}

const AUTO_JOB_MS = 60_000;

/** Resolves when the command is to become a job; never settles if it may not. */
async function untilJob(deps: ShellDeps, command: Command): Promise<"job"> {
  const { clock = systemClock, autoJobMs = AUTO_JOB_MS } = deps;
  const { jobAfterMs: asked, isAutoJob } = command.run;
  const jobAfterMs = Math.min(asked ?? Infinity, isAutoJob ? autoJobMs : Infinity);
  if (jobAfterMs === Infinity) return new Promise(() => {});
  const stop = new AbortController();
  void command.ended.then(() => stop.abort(ABORTED));
  // a command that cannot start does not become a job
  if (jobAfterMs === 0) await new Promise((resolve) => setImmediate(resolve));
  else await clock.sleep(jobAfterMs, stop.signal).catch(() => new Promise(() => {}));
  return "job";
}

function answerOf(deps: ShellDeps, command: Command, end: CommandEnd): ShellAnswer {
  const { clock = systemClock } = deps;
  const captured = command.capture.captured();
  return {
    exit_code: end.code,
    signal: end.signal,
    timed_out: command.isLate,
    interrupted: command.isStopped && !command.isLate,
    ...captured,
    duration_ms: Math.round(clock.mono() - command.begunMs),
    ...refusalOf(command, end, captured),
    job: null,
  };
}

function refusalOf(
  { sandbox, sandboxKind: kind }: Command,
  { code, violations = [] }: CommandEnd,
  { output, stderr }: Captured,
): Pick<ShellAnswer, "sandbox"> {
  const words = violationWords({ sandbox, kind, violations, exitCode: code, output: `${output}${stderr}` });
  return words === null ? {} : { sandbox: words };
}

/** The text form: the output, then a line for each note to the reader. */
export function shellText(answer: ShellAnswer, run: ShellRun): string {
  const notes: string[] = [];
  if (answer.truncated && answer.output_path !== null)
    notes.push(`[cut: ${answer.total_bytes} bytes in all; the whole: ${answer.output_path}]`);
  else if (answer.truncated)
    notes.push(`[cut: ${answer.total_bytes} bytes in all; no room below ${OUT_MOUNT}]`);
  if (answer.altered !== undefined) notes.push(`[${answer.altered}]`);
  if (answer.timed_out) notes.push(`timed out after ${run.timeoutMs} ms`);
  const status = answer.exit_code ?? 128 + signalNumber(answer.signal);
  if (status !== 0) notes.push(`exit status ${status}`);
  if (typeof answer.sandbox === "string") notes.push(answer.sandbox);
  if (notes.length === 0) return answer.output;
  const isOpenLine = answer.output !== "" && !answer.output.endsWith("\n");
  return `${answer.output}${isOpenLine ? "\n" : ""}${notes.join("\n")}\n`;
}

function signalNumber(name: string | null): number {
  return Object.entries(constants.signals).find(([known]) => known === name)?.[1] ?? 0;
}
