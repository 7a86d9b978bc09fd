/**
 * Timeouts for an answer: one since the last sign of life, and one in total. Uses a single timer, which ends with the
 * call.
 */
import { Fault } from "../../abi/errors.ts";
import type { Clock } from "../../abi/program.ts";
import { linkSignals } from "../../lib/abort.ts";

interface Patience {
  readonly clock: Clock;
  readonly quietMs: number;
  readonly totalMs: number;
  /** Makes the error to reject with after a timeout. */
  late(words: string): Error;
}

/**
 * Runs `act` with a signal that fires when the caller gives up or a timeout expires. `alive` restarts the quiet
 * timeout.
 */
export async function withPatience<T>(
  { clock, quietMs, totalMs, late }: Patience,
  signal: AbortSignal,
  act: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const done = new AbortController();
  const began = clock.mono();
  let heard = began;
  const wait = async (): Promise<void> => {
    for (;;) {
      const dueMs = Math.min(heard + quietMs, began + totalMs) - clock.mono();
      if (dueMs <= 0) return;
      await clock.sleep(dueMs, done.signal);
    }
  };
  wait().then(
    () => {
      const isTotal = clock.mono() - began >= totalMs;
      over.abort(
        late(isTotal ? `not answered within ${totalMs / 1000} s` : `no answer for ${quietMs / 1000} s`),
      );
    },
    () => {},
  );
  using linked = linkSignals(signal, over.signal);
  try {
    return await act(linked.signal, () => {
      heard = clock.mono();
    });
  } catch (error) {
    // a specific error is more useful than the timeout
    throw over.signal.aborted && !signal.aborted && !(error instanceof Fault) ? over.signal.reason : error;
  } finally {
    done.abort();
  }
}
