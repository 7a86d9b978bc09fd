/**
 * Gives back to the system what the C library holds unused. The texts of a long conversation come and go between things that
 * stay, and the library itself gives back only what is free at the end of its heap: 20 to 50 MB after an hour of turns.
 */
import { findLibc } from "../dev/host/libc.ts";

const LOOK_MS = 10_000;
/** What must have come before it is worth a look: a call takes 0.3 ms, and 2 for each so much that it finds. */
const GROWTH_BYTES = 8 * 1024 * 1024;

interface Held {
  bytes(): number;
  release(): void;
}

const OWN: Held = { bytes: () => process.memoryUsage.rss(), release: () => findLibc()?.releaseFree() };

export function releaseFreeMemory(held = OWN): void {
  let least = held.bytes();
  const look = (): void => {
    if (held.bytes() > least + GROWTH_BYTES) {
      held.release();
      least = held.bytes();
    } else least = Math.min(least, held.bytes());
  };
  setInterval(look, LOOK_MS).unref();
}
