/** The machine's clocks, as a program receives them (abi/program.ts). Tests use a clock that stands still. */
import { abortable } from "../abort.ts";

export const systemClock = {
  /** Wall clock, milliseconds since the epoch. */
  now: (): number => Date.now(),
  /** Monotonic milliseconds with a fraction. */
  mono: (): number => performance.now(),
  /** Sleeps `ms`. Leaves neither timer nor listener. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    try {
      await (signal === undefined ? promise : abortable(promise, signal));
    } finally {
      clearTimeout(timer);
    }
  },
};
