import { Fault } from "../../abi/errors.ts";
import { isSignal, SIGNALS } from "../../abi/process.ts";
import type { Scope } from "../gate/scope.ts";

/** INVALID unless 1 to 5. */
export function checkSignal(signal: unknown): void {
  if (isSignal(signal)) return;
  const message = `not a signal: ${String(signal)}; signals are 1 to 5`;
  throw new Fault({ code: "INVALID", message });
}

/**
 * Of what changes how a process takes a signal: INVALID also for KILL. PERMISSION for a program under /bin: that would
 * outlast its call.
 */
export function checkMaskable(signal: unknown, scope: Scope | null): void {
  checkSignal(signal);
  if (signal === SIGNALS.SIGKILL)
    throw new Fault({ code: "INVALID", message: "SIGKILL can be neither blocked nor handled" });
  if (scope === null) return;
  const message = `${scope.tool} may not change how its process takes signals`;
  throw new Fault({ code: "PERMISSION", message });
}
