/** Sessions as the calls see them: one that rests is brought back by what is done to it. */
import type { Pid } from "../abi/ids.ts";
import type { Disposition, Signal } from "../abi/process.ts";
import type { Sessions } from "../kernel/ports/sessions.ts";

export interface RestingSessions extends Pick<Sessions, "awake"> {
  /** It is in memory, to stay: what is done to it is done at once. */
  isHere(pid: Pid): boolean;
  /** What a client's signal does to one that rests: it ends, or goes on. undefined: it does not rest. */
  signalResting(pid: Pid, signal: Signal): Promise<Disposition | undefined>;
}
