/** Why a supervisor ends, what its exit is then, and what its callers hear. */
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import { EXIT, type ExitStatus } from "../../abi/process.ts";

export type Ending =
  | { readonly kind: "signal"; readonly exit: ExitStatus }
  | { readonly kind: "done" }
  /** A child did not start when all were to be started first. */
  | { readonly kind: "unstarted"; readonly error: Error }
  | { readonly kind: "escalated"; readonly reason: string }
  | { readonly kind: "bug"; readonly error: unknown };

/** Throws what a bug threw: its process ends with that. */
export function exitOf(ending: Ending): ExitStatus {
  switch (ending.kind) {
    case "signal":
      return ending.exit;
    case "done":
      return EXIT.completed;
    case "escalated":
      return { code: 1, reason: ending.reason, kind: "fault" };
    case "unstarted":
      return { code: 1, reason: ending.error.message, kind: "fault", err: ending.error };
    case "bug":
      throw ending.error;
  }
}

export function ended(name: string): SyscallError {
  return refusal("CANCELLED", `supervisor ${name} ends`);
}

export function conflict(message: string): SyscallError {
  return refusal("CONFLICT", message);
}

export function unavailable(message: string): SyscallError {
  return refusal("UNAVAILABLE", message);
}

function refusal(code: "CANCELLED" | "CONFLICT" | "UNAVAILABLE", message: string): SyscallError {
  return new SyscallError({ syscall: "Supervisor", pid: PID_KERNEL, code, message });
}
