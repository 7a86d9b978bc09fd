/** A command for the host, as a list of words without a shell. */
import { Fault } from "../../abi/errors.ts";
import type { NativeOptions } from "../../abi/native.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { LIMITS } from "../limits.ts";

/** The tool name that rules match: a process may start exactly what it may run through `bash`. */
export const EXEC_TOOL = "bash";

/** INVALID: not a command that the host can run. */
export function checkCommand(command: readonly string[]): void {
  const [program = ""] = command;
  if (program === "") throw invalid("the command names no program");
  if (command.length > LIMITS.commandWords)
    throw invalid(`a command of ${command.length} words; at most ${LIMITS.commandWords}`);
  if (command.some((word) => word.includes("\0"))) throw invalid("the command contains NUL");
  const bytes = command.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  if (bytes > LIMITS.commandBytes)
    throw invalid(`a command of ${bytes} bytes; at most ${LIMITS.commandBytes}`);
}

/** Converts a native's options to spawn options. The native's own `cwd` wins; of two time limits, the shorter. */
export function nativeOpts(opts: SpawnOpts, { cwd, timeoutMs = 0 }: NativeOptions): SpawnOpts {
  const limits = [opts.timeoutMs ?? 0, timeoutMs].filter((ms) => ms !== 0);
  return {
    onParentExit: "terminate",
    ...opts,
    ...(cwd === undefined ? {} : { cwd }),
    timeoutMs: limits.length === 0 ? 0 : Math.min(...limits),
  };
}

function invalid(message: string): Fault {
  return new Fault({ code: "INVALID", message });
}
