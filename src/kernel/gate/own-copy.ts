/** What a call was given, as it was then: a question may wait for hours, and what is permitted is what is done. */
import { messageOf, SyscallError } from "../../abi/errors.ts";
import type { Process } from "../process/process.ts";

/** The caller keeps no hand on it. INVALID: no plain data. */
export function ownCopy<T>(self: Process, syscall: string, given: T): T {
  try {
    return structuredClone(given);
  } catch (cause) {
    const message = `its arguments are not plain data: ${messageOf(cause)}`;
    throw new SyscallError({ syscall, pid: self.pid, code: "INVALID", message, cause });
  }
}
