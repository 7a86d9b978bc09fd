import type { ErrorCode } from "../../abi/errno.ts";
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";

/** Only a person goes back in a history: the caller is pid 0. */
export function forkError(code: ErrorCode, message: string, hint?: string): SyscallError {
  return new SyscallError({ syscall: "Fork", pid: PID_KERNEL, code, message, hint });
}
