/** Sessions as the system calls see them: a call on a resting session restores it. */
import type { Pid } from "../abi/ids.ts";
import type { Disposition, Signal } from "../abi/process.ts";
import type { Sessions } from "../kernel/ports/sessions.ts";

export interface RestingSessions extends Pick<Sessions, "awake"> {
  /** It is in memory and not about to rest: calls act on it directly. */
  isHere(pid: Pid): boolean;
  /** Applies a client's signal to a resting session: it ends it or resumes it. undefined: the session does not rest. */
  signalResting(pid: Pid, signal: Signal): Promise<Disposition | undefined>;
}
