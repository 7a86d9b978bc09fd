/** Turns what a device throws into the error of the file call, with the device's code. */
import { codeOf, Fault, messageOf, VfsError } from "../../abi/errors.ts";
import type { Process } from "../process/process.ts";

export function vfsError(op: string, self: Process, device: string, thrown: unknown): Fault {
  if (thrown instanceof Fault && !isDeviceFault(thrown)) return thrown;
  const hint = thrown instanceof Fault ? thrown.hint : undefined;
  return new VfsError({
    op,
    pid: self.pid,
    device,
    code: codeOf(thrown),
    message: messageOf(thrown),
    hint,
    cause: thrown,
  });
}

/** Kernel errors already name their place; a DriverError (and its subclasses) does not know the process. */
function isDeviceFault(fault: Fault): boolean {
  return "op" in fault && !("pid" in fault) && !("cid" in fault);
}

export function invalid(op: string, self: Process, message: string, device?: string): VfsError {
  return new VfsError({ op, pid: self.pid, device, code: "INVALID", message });
}
