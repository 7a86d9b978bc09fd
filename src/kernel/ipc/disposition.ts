/** What a signal meets. Pure, so that the answer, what is recorded and what is done cannot differ. */
import {
  type Disposition,
  type ProcessState,
  SIGNALS,
  type Signal,
  type SignalAction,
} from "../../abi/process.ts";

/** Of signals that do not act by default. */
export type OwnAction = Exclude<SignalAction, "default">;

/** The first that holds: it has ended, KILL, blocked, an action of its own, else the default. */
export function dispositionOf(
  state: ProcessState,
  blocked: ReadonlySet<Signal>,
  actions: ReadonlyMap<Signal, OwnAction>,
  signal: Signal,
): Disposition {
  if (state === "zombie" || state === "dead") return "ignored";
  if (signal === SIGNALS.SIGKILL) return "default";
  if (blocked.has(signal)) return "pending";
  const action = actions.get(signal);
  if (action === undefined) return "default";
  return action === "ignore" ? "ignored" : "handler";
}
