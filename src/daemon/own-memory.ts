/**
 * How the memory of the daemon grows, and what of it is given back.
 *
 * The old generation of its heap is collected once it has grown by a fifth. What V8 chooses itself leaves as much garbage in it
 * as is alive, and --optimize-for-size makes a turn slower. The flag comes when the daemon has loaded what it needs: V8 rejects
 * all compiled code, Node's own modules too, that was made under other flags, which is a fifth of a start.
 *
 * The system gets back what the C library holds unused. The texts of a long conversation come and go between things that stay,
 * and the library itself gives back only what is free at the end of its heap: 20 to 50 MB after an hour of turns.
 */
import { findLibc } from "../dev/host/libc.ts";
import { setFlag } from "../lib/v8-flags.ts";

/** The time in which a daemon loads most of its modules, and its heap is small. */
const LOADED_MS = 5_000;

export function limitHeapGrowth(): void {
  setTimeout(() => setFlag("--heap-growing-percent=20", "--heap-growing-percent=0"), LOADED_MS).unref();
}

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
