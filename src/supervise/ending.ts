/** The reasons why a supervisor ends, the exits they result in, and the errors for its callers. */
import { SyscallError } from "../abi/errors.ts";
import { PID_KERNEL } from "../abi/ids.ts";
import { EXIT, type ExitStatus } from "../abi/process.ts";
import type { KeptEnding } from "./record/kept-supervisor.ts";

export type Ending =
  | { readonly kind: "signal"; readonly exit: ExitStatus }
  | { readonly kind: "done" }
  /** A child failed at the first start of all children. */
  | { readonly kind: "unstarted"; readonly error: Error }
  | { readonly kind: "escalated"; readonly reason: string }
  | { readonly kind: "bug"; readonly error: unknown };

/** Throws the error of a bug: the process ends with it. */
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

/** The ending as the journal keeps it; null: not kept, or recorded separately. */
export function keptEnding(ending: Ending): KeptEnding | null {
  if (ending.kind === "signal") return { kind: "signal", code: ending.exit.code, reason: ending.exit.reason };
  return ending.kind === "done" ? { kind: "done" } : null;
}

/** An ending that began in an earlier daemon. */
export function endingOf(kept: KeptEnding): Ending {
  if (kept.kind !== "signal") return kept;
  return { kind: "signal", exit: { code: kept.code, reason: kept.reason, kind: "killed" } };
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
