/** The machine's clocks. Timers do not keep the daemon alive: its socket does. */
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../abi/program.ts";

export const systemClock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
  async sleep(ms, signal) {
    await delay(ms, undefined, signal === undefined ? { ref: false } : { ref: false, signal });
  },
};
