/**
 * Turns what a device throws into the error of the file call, with the device's code; CANCELLED after an abort. The
 * message may come from a server and echo what it was sent: secrets are redacted.
 */
import { codeOf, Fault, messageOf, VfsError } from "../../abi/errors.ts";
import type { Process } from "../process/process.ts";

/** A call on a file. */
interface FileCall {
  readonly op: string;
  readonly self: Pick<Process, "pid" | "wording">;
  readonly device?: string | undefined;
}

export function vfsError({ op, self, device }: FileCall, thrown: unknown, signal: AbortSignal): Fault {
  if (thrown instanceof Fault && !isDeviceFault(thrown)) return thrown;
  const { pid } = self;
  // An aborted device may throw anything: the signal's reason, a broken socket.
  if (signal.aborted && !(thrown instanceof Fault) && codeOf(thrown) !== "TIMEOUT")
    return new VfsError({ op, pid, device, code: "CANCELLED", message: "cancelled", cause: thrown });
  const hint = thrown instanceof Fault && thrown.hint !== undefined ? self.wording(thrown.hint) : undefined;
  const message = self.wording(messageOf(thrown));
  const fields = { code: codeOf(thrown), message, hint, cause: thrown };
  return new VfsError({ op, pid, device, ...fields });
}

/** Kernel errors already name the process; a DriverError (and its subclasses) does not know it. */
function isDeviceFault(fault: Fault): boolean {
  return "op" in fault && !("pid" in fault) && !("cid" in fault);
}

export function invalid({ op, self, device }: FileCall, message: string): VfsError {
  return new VfsError({ op, pid: self.pid, device, code: "INVALID", message });
}
