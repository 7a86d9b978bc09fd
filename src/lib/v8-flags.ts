/**
 * Flags of V8 that are set while it runs. V8 takes compiled code only under the flags under which it was made, so what is kept for
 * the next start is made under the usual ones.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const changed: { readonly flag: string; readonly usual: string }[] = [];
let isUsual = false;

/** `usual`: the flag that takes it back. */
export function setFlag(flag: string, usual: string): void {
  setFlagsFromString(flag);
  changed.push({ flag, usual });
}

/** How often a small heap is looked at, in ms, and how far it may have grown since it was collected last. */
const LOOK_MS = 10_000;
const GROWTH = 1.15;
/** Of a larger one a collection takes longer than a key may wait, and V8's own rule fits. */
const SMALL_BYTES = 32 * 1024 * 1024;

/**
 * Collects what a start has left, then the heap whenever it has grown by a seventh: V8 lets a small one grow by half, and a program
 * that has little to do takes minutes for that. Returns what ends it. No flag differs from the usual ones afterwards.
 */
export function keepHeapSmall(): () => void {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  const used = (): number => getHeapStatistics().used_heap_size;
  let held = 0;
  const look = (): void => {
    if (used() < held * GROWTH || used() > SMALL_BYTES) return;
    collect();
    held = used();
  };
  look();
  const looking = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(looking);
}

export function underUsualFlags<T>(act: () => T): T {
  if (isUsual) return act();
  isUsual = true;
  for (const { usual } of changed) setFlagsFromString(usual);
  try {
    return act();
  } finally {
    isUsual = false;
    for (const { flag } of changed) setFlagsFromString(flag);
  }
}
