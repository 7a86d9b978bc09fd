/** What all agents report of their runs: to one listener, as it happens. */
import type { ProcessEvent } from "../../abi/events.ts";

const OF_RUNS = ["spawn", "step", "complete", "error"] as const;
export type RunEvent = Extract<ProcessEvent, { event: (typeof OF_RUNS)[number] }>;

export function isOfRun(event: ProcessEvent): event is RunEvent {
  return (OF_RUNS as readonly string[]).includes(event.event);
}

export interface AgentRuns {
  /** From now on, for the life of the kernel. The first listener is the only one. */
  hear(take: (event: RunEvent) => void): void;
}
