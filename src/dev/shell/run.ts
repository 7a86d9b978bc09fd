/** One command from start to answer. */
import { constants } from "node:os";
import type { Caller } from "../../abi/device.ts";
import type { ShellAnswer } from "../../abi/fs-ops.ts";
import type { CallId } from "../../abi/ids.ts";
import type { Clock } from "../../abi/program.ts";
import type { HostExec } from "../../kernel/ports/host.ts";
import { systemClock } from "../../lib/system-clock.ts";
import { driverError } from "../driver-error.ts";
import { isExecutable } from "../host/program.ts";
import { OUT_MOUNT, type OutputStore } from "../out/output-store.ts";
import { Capture } from "./capture.ts";
import { commandEnvironment } from "./environment.ts";
import type { ShellRun } from "./request.ts";

export interface ShellDeps {
  readonly exec: HostExec;
  readonly outputs: OutputStore;
  /** Of this daemon: told to the command as CRUX_IPC_SOCKET and KAIRO_IPC_SOCKET. */
  readonly socketPath: string;
  /** Default the machine's own. */
  readonly clock?: Pick<Clock, "mono" | "sleep">;
}

const bashPlaces = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

/**
 * Resolves when the command and everything it started are gone. `signal` ends it: the answer then says `interrupted`.
 * DRIVER: bash did not start.
 */
export async function runShell(
  deps: ShellDeps,
  caller: Caller,
  run: ShellRun,
  callId: CallId,
  signal: AbortSignal,
): Promise<ShellAnswer> {
  const capture = new Capture(run.isMerged, () => deps.outputs.openOutput(caller.uuid, callId));
  const clock = deps.clock ?? systemClock;
  const begunMs = clock.mono();
  const child = deps.exec.run(
    {
      argv: argvOf(run),
      isMerged: run.isMerged,
      cwd: run.cwd,
      env: commandEnvironment(caller, run.env, deps.socketPath),
      owner: `pid ${caller.pid} bash`,
      killed: caller.killed,
      onOutput: (stream, chunk) => capture.take(stream, chunk),
    },
    signal,
  );
  let isLate = false;
  const over = new AbortController();
  clock.sleep(run.timeoutMs, over.signal).then(
    () => {
      isLate = true;
      void child.kill();
    },
    () => {},
  );
  const end = await child.exited;
  over.abort();
  const captured = capture.end();
  if (end.error !== undefined && !signal.aborted)
    throw driverError("Write", "DRIVER", `bash did not start: ${end.error.message}`, end.error);
  return {
    exit_code: end.code,
    signal: end.signal,
    timed_out: isLate,
    interrupted: signal.aborted && !isLate,
    ...captured,
    duration_ms: Math.round(clock.mono() - begunMs),
  };
}

/** Last word: `$0`, which bash puts before its own messages. */
function argvOf({ command }: ShellRun): string[] {
  const bash = bashPlaces.find(isExecutable) ?? "bash";
  return [bash, "--noprofile", "--norc", "-c", command, "bash"];
}

/** The text form: what was printed, then a line for each thing the reader must know. */
export function shellText(answer: ShellAnswer, run: ShellRun): string {
  const notes: string[] = [];
  if (answer.truncated && answer.output_path !== null)
    notes.push(`[cut: ${answer.total_bytes} bytes in all; the whole: ${answer.output_path}]`);
  else if (answer.truncated)
    notes.push(`[cut: ${answer.total_bytes} bytes in all; no room below ${OUT_MOUNT}]`);
  if (answer.timed_out) notes.push(`timed out after ${run.timeoutMs} ms`);
  const status = answer.exit_code ?? 128 + signalNumber(answer.signal);
  if (status !== 0) notes.push(`exit status ${status}`);
  if (notes.length === 0) return answer.output;
  const isOpenLine = answer.output !== "" && !answer.output.endsWith("\n");
  return `${answer.output}${isOpenLine ? "\n" : ""}${notes.join("\n")}\n`;
}

function signalNumber(name: string | null): number {
  return Object.entries(constants.signals).find(([known]) => known === name)?.[1] ?? 0;
}
