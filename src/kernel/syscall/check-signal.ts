import { SyscallError } from "../../abi/errors.ts";
import { isSignal } from "../../abi/process.ts";
import type { Process } from "../process/process.ts";

/** INVALID unless 1 to 5. */
export function checkSignal(syscall: string, self: Process, signal: unknown): void {
  if (isSignal(signal)) return;
  const message = `not a signal: ${String(signal)}; signals are 1 to 5`;
  throw new SyscallError({ syscall, pid: self.pid, code: "INVALID", message });
}
