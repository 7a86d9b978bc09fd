/**
 * How V8 runs the daemon: how its memory grows, what of it is given back, and when a function is optimised.
 *
 * The old generation of its heap is collected once it has grown by a fifth. What V8 chooses itself leaves as much garbage in it
 * as is alive, and --optimize-for-size makes a turn slower.
 *
 * Most functions are called a few times a turn. V8's first optimising compiler takes one after 400 calls, and after 500 without a
 * new kind of object, so it would be hundreds of turns until then: with 120 of each, a turn of the second fifty to the eighth takes a
 * twentieth less. With 40, hundreds of functions are compiled beside the first fifty turns, which take a fifth longer and 40 MB
 * more. What is compiled so soon takes few other functions into itself: 6 MB of code in place of 12.
 *
 * The flags come once the daemon is there, and what it loads later is loaded under the usual ones: V8 rejects all compiled code,
 * Node's own modules too, that was made under other flags, which is a third of a start. They must not come late either: what V8
 * counts for a function begins with the flags of its first calls.
 *
 * The system gets back what the C library holds unused. The texts of a long conversation come and go between things that stay,
 * and the library itself gives back only what is free at the end of its heap: 20 to 50 MB after an hour of turns. So do the pages of Node's program
 * that a start alone has used: 38 MB of a daemon without work. They are those of its file, shared by all who run it.
 *
 * What V8 has compiled is kept for the next start. To write the largest file holds the event loop for 50 ms, so it is done while
 * no process is at work, else at the end of the daemon, and each file has a round of its own.
 */
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { findLibc } from "../dev/host/libc.ts";
import { setFlag, underUsualFlags } from "../lib/v8-flags.ts";

/** The time in which a daemon starts, and loads most of its modules. */
const LOADED_MS = 1_000;

/** Each with the one that takes it back. */
const FLAGS = [
  ["--heap-growing-percent=20", "--heap-growing-percent=0"],
  ["--invocation-count-for-maglev=120", "--invocation-count-for-maglev=400"],
  ["--minimum-invocations-after-ic-update=120", "--minimum-invocations-after-ic-update=500"],
  ["--max-maglev-inlined-bytecode-size-cumulative=200", "--max-maglev-inlined-bytecode-size-cumulative=920"],
] as const;

export function tuneOnceLoaded(): void {
  const tune = (): void => {
    for (const [flag, usual] of FLAGS) setFlag(flag, usual);
  };
  setTimeout(tune, LOADED_MS).unref();
}

/**
 * The sizes of the young heap that the daemon was started with (wire/client/daemon.ts) would be those of its threads too, whatever
 * limits these are given. Its own heap has taken them before any of its code runs; compiled code does not depend on them.
 */
export function leaveThreadsTheirLimits(): void {
  for (const end of ["min", "max"]) setFlagsFromString(`--${end}-semi-space-size=0`);
}

const MEMORY_LOOK_MS = 2_000;
/** What must have come before it is worth a look: a call takes 3 ms, and 2 for each so much that it finds. */
const GROWTH_BYTES = 8 * 1024 * 1024;

interface Held {
  bytes(): number;
  release(): void;
}

const OWN: Held = {
  bytes: () => process.memoryUsage.rss() * (1 - sharedPart()),
  release: () => {
    findLibc()?.releaseFree();
    findLibc()?.releaseProgram();
  },
};

/** How much of the memory is that of files, which comes as it is used and would hide how the rest grows. */
function sharedPart(): number {
  if (process.platform !== "linux") return 0;
  const [, resident = 1, shared = 0] = readFileSync("/proc/self/statm", "utf8").split(" ").map(Number);
  return shared / resident;
}

export function releaseUnused(held = OWN): void {
  let least = Number.POSITIVE_INFINITY;
  const look = (): void => {
    const bytes = held.bytes();
    if (bytes > least + GROWTH_BYTES) {
      held.release();
      least = held.bytes();
    } else least = Math.min(least, bytes);
  };
  whereItCan(look);
  setInterval(() => whereItCan(look), MEMORY_LOOK_MS).unref();
}

function whereItCan(act: () => void): void {
  try {
    act();
  } catch {
    // no descriptor is left to look with: the next look may have one
  }
}

/** By then a daemon has done what it was started for, and V8 still has what it has compiled for that; later it forgets what did not run. */
const KEPT_AFTER_MS = 20_000;
const QUIET_LOOK_MS = 1_000;
/** Between two files: time for all that waits. */
const BETWEEN_MS = 100;
/** Less of the loop's time was used in the last second. */
const QUIET = 0.05;

/** Whether the event loop had little to do since this was last asked. */
export function ownQuiet(): () => boolean {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization < QUIET;
  };
}

/**
 * `files`: each step keeps one; `isQuiet`: asked each second. What it took to write them is given back. Returns what keeps the rest at
 * once, for a daemon that ends.
 */
export function keepInRounds(files: Iterator<unknown>, isQuiet: () => boolean, held = OWN): () => void {
  const keepOne = (): boolean => underUsualFlags(() => files.next().done !== true);
  const later = (ms: number, act: () => void): void => {
    setTimeout(act, ms).unref();
  };
  const keep = (): void => {
    if (keepOne()) later(BETWEEN_MS, keep);
    else whereItCan(() => held.release());
  };
  const look = (): void => {
    if (isQuiet()) keep();
    else later(QUIET_LOOK_MS, look);
  };
  later(KEPT_AFTER_MS - QUIET_LOOK_MS, () => {
    isQuiet();
    later(QUIET_LOOK_MS, look);
  });
  return () => {
    while (keepOne());
  };
}
