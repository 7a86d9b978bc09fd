/** The log of a process, alive or gone. */
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Core } from "../core.ts";
import type { LogPiece, Subscription } from "../ports/kernel-api.ts";

export async function openLogs(
  _core: Core,
  pid: Pid,
  _options: { tail: number; follow: boolean },
): Promise<Subscription<LogPiece>> {
  throw new SyscallError({
    syscall: "Logs",
    pid: PID_KERNEL,
    code: "NOT_FOUND",
    message: `process not found: ${pid}`,
  });
}
