/** What a process does at a signal instead of the default. */
import { Fault } from "../../abi/errors.ts";
import type { Signal } from "../../abi/process.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import { untilDeadline } from "../process/spawn/run.ts";
import type { SignalState } from "./signal-state.ts";

/**
 * undefined: it is over already. Throws at once what it throws at once, so that nothing comes in between; rejects with what
 * it rejects with, or TIMEOUT. UNAVAILABLE: too many are under way.
 */
export function runHandler(
  core: Core,
  proc: Process,
  signals: SignalState,
  signal: Signal,
): Promise<void> | undefined {
  const handler = signals.handlers.get(signal);
  if (typeof handler !== "function") return undefined;
  const { size } = signals.running;
  if (size >= LIMITS.handlersRunning)
    throw new Fault({ code: "UNAVAILABLE", message: `${size} handlers are under way` });
  const running = handler(signal);
  return running === undefined ? undefined : inTime(core, proc, signals, running);
}

/** TIMEOUT when it takes over 5 s, pauses not counted. The watch ends with the handler, or with the process. */
async function inTime(
  core: Core,
  proc: Process,
  signals: SignalState,
  running: Promise<void>,
): Promise<void> {
  const watch = new AbortController();
  signals.running.add(watch);
  const untilMs = proc.halt.time.ms(core.ports.clock.mono()) + LIMITS.handlerMs;
  const late = untilDeadline(core, proc, untilMs, watch.signal).then(() => {
    throw new Fault({ code: "TIMEOUT", message: `it took over ${LIMITS.handlerMs} ms` });
  });
  try {
    await Promise.race([running, late]);
  } finally {
    signals.running.delete(watch);
    watch.abort();
  }
}
