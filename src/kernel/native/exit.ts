/** Converts the end of a native to an exit status. */
import { constants } from "node:os";
import { EXIT, type ExitStatus } from "../../abi/process.ts";
import type { ExecChild } from "../ports/host.ts";

/** Its own exit code; after signal n, or with the code that stands for it: 128 + n and `killed: <NAME>`. */
export function exitOfNative({ code, signal, error }: Awaited<ExecChild["exited"]>): ExitStatus {
  if (error !== undefined) return { code: 1, reason: error.message, kind: "fault", err: error };
  const name = signal ?? signalOf(code ?? 0);
  if (name !== undefined) return { code: 128 + numberOf(name), reason: `killed: ${name}`, kind: "killed" };
  return code === 0 ? EXIT.completed : { code: code ?? 1, reason: `exit ${code ?? 1}`, kind: "fault" };
}

/** Shells and namespace wrappers report a death by signal n as code 128 + n. */
function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}

function numberOf(name: string): number {
  return Object.entries(constants.signals).find(([known]) => known === name)?.[1] ?? 0;
}
