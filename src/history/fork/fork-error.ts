import type { ErrorCode } from "../../abi/errno.ts";
import { SyscallError } from "../../abi/errors.ts";
import type { Fact } from "../../abi/fact.ts";
import { PID_KERNEL } from "../../abi/ids.ts";

/** The caller is always pid 0: only the user forks or rewinds a process. */
export function forkError(code: ErrorCode, message: string, next?: string | Fact): SyscallError {
  const told = typeof next === "string" ? { hint: next } : { fact: next };
  return new SyscallError({ syscall: "Fork", pid: PID_KERNEL, code, message, ...told });
}
