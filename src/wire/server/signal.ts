import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import { isSignal, type Signal } from "../../abi/process.ts";

/** INVALID unless 1 to 5. `syscall`: the call named in the error. */
export function requireSignal(signal: number, syscall: string): Signal {
  if (isSignal(signal)) return signal;
  const message = `signal must be 1 to 5: ${signal}`;
  throw new SyscallError({ code: "INVALID", syscall, pid: PID_KERNEL, message });
}
