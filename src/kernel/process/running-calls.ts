/** The tools whose calls a process runs. */
import type { Process } from "./process.ts";

interface RunningCall {
  readonly tool: string;
}

/** In the order in which they began. Apart from the processes: most run none. */
const running = new WeakMap<Process, Set<RunningCall>>();

export function callBegins(proc: Process, call: RunningCall): void {
  running.set(proc, (running.get(proc) ?? new Set()).add(call));
}

/** Does nothing for a call that never began. */
export function callIsOver(proc: Process, call: RunningCall): void {
  const calls = running.get(proc);
  calls?.delete(call);
  if (calls?.size === 0) running.delete(proc);
}

/** The tool of the first call that runs; undefined: none does. */
export function runningTool(proc: Process): string | undefined {
  const [first] = running.get(proc) ?? [];
  return first?.tool;
}
