/** Decides what a signal does. Pure, so that the answer, the record and the action cannot differ. */
import {
  type Disposition,
  type ProcessState,
  SIGNALS,
  type Signal,
  type SignalAction,
} from "../../abi/process.ts";

/** Signals that end a process by default. */
export const ENDING: ReadonlySet<unknown> = new Set([SIGNALS.SIGTERM, SIGNALS.SIGKILL, SIGNALS.SIGINT]);

/** The actions that a process can set instead of the default. */
export type OwnAction = Exclude<SignalAction, "default">;

interface SignalSettings {
  readonly blocked: ReadonlySet<Signal>;
  readonly handlers: ReadonlyMap<Signal, OwnAction>;
}

/** The first match of: the process has ended, KILL, blocked, an action of its own; else the default. */
export function dispositionOf(
  state: ProcessState,
  { blocked, handlers }: SignalSettings,
  signal: Signal,
): Disposition {
  if (state === "zombie" || state === "dead") return "ignored";
  if (signal === SIGNALS.SIGKILL) return "default";
  if (blocked.has(signal)) return "pending";
  const action = handlers.get(signal);
  if (action === undefined) return "default";
  return action === "ignore" ? "ignored" : "handler";
}
