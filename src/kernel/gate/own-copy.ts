/** A copy of a call's arguments: a question may wait for hours, and what was permitted must be what is done. */
import { messageOf, SyscallError } from "../../abi/errors.ts";
import type { Process } from "../process/process.ts";

/** The caller cannot change the copy. INVALID: not plain data. */
export function ownCopy<T>(self: Process, syscall: string, given: T): T {
  try {
    return structuredClone(given);
  } catch (cause) {
    const message = `its arguments are not plain data: ${messageOf(cause)}`;
    throw new SyscallError({ syscall, pid: self.pid, code: "INVALID", message, cause });
  }
}
