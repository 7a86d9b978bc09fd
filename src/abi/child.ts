/** A child agent, as the process that started it knows it. */
import type { ProcUuid } from "./ids.ts";
import type { ExitStatus } from "./process.ts";

/** Given at the spawn and recorded with it. */
export interface ChildMark {
  /** The call of the model that started it. */
  readonly call: string;
  /** Three to five words for people. */
  readonly title: string;
}

/** How a process ended. */
export interface Ended {
  readonly agentId: string;
  readonly exit: ExitStatus;
  /** "": there is none. */
  readonly result: string;
  readonly tokensUsed: number;
  readonly elapsedMs: number;
}

/** `agent-` and twelve hex digits: the name of an agent that is never used again, not even after a restart. */
export function agentIdOf(uuid: ProcUuid): string {
  return `agent-${uuid.replaceAll("-", "").slice(0, 12)}`;
}
