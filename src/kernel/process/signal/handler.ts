/** Runs the handler that a process has set for a signal. */
import { Fault } from "../../../abi/errors.ts";
import type { Signal } from "../../../abi/process.ts";
import type { Clock } from "../../../abi/program.ts";
import { LIMITS } from "../../limits.ts";
import type { Process } from "../process.ts";

type Timer = Pick<Clock, "mono" | "sleep">;

/** What handlers need of their surroundings. */
interface Around {
  readonly clock: Timer;
  /** Sends the process a message about the signal; rejects if that fails. */
  message(signal: Signal): Promise<void>;
}

/**
 * undefined: no handler, or it finished synchronously. A synchronous error of the handler is thrown synchronously, so
 * that nothing happens in between; else rejects with the handler's rejection, or TIMEOUT. UNAVAILABLE: too many
 * handlers run.
 */
export function runHandler(
  proc: Process,
  signal: Signal,
  { clock, message }: Around,
): Promise<void> | undefined {
  const { signals } = proc;
  const handler = signals?.handlers.get(signal);
  if (handler === undefined || handler === "ignore") return undefined;
  const size = signals?.running ?? 0;
  if (size >= LIMITS.handlersRunning)
    throw new Fault({ code: "UNAVAILABLE", message: `${size} handlers are under way` });
  const running = handler === "message" ? message(signal) : handler(signal);
  return running === undefined ? undefined : inTime(proc, running, clock);
}

/** TIMEOUT after 5 s, pauses not counted. The timer stops with the handler or with the process. */
async function inTime(proc: Process, running: Promise<void>, clock: Timer): Promise<void> {
  const watch = new AbortController();
  const ended = proc.ownSignals().ran(watch);
  const untilMs = proc.halt.time.ms(clock.mono()) + LIMITS.handlerMs;
  const late = proc.halt.untilRan(untilMs, clock, watch.signal).then(() => {
    throw new Fault({ code: "TIMEOUT", message: `it took over ${LIMITS.handlerMs} ms` });
  });
  try {
    await Promise.race([running, late]);
  } finally {
    ended();
  }
}
