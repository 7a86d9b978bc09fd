/**
 * Flags of V8 that are set while it runs. V8 takes compiled code only under the flags under which it was made, so what is kept for
 * the next start is made under the usual ones.
 */
import { setFlagsFromString } from "node:v8";

const changed: { readonly flag: string; readonly usual: string }[] = [];
let isUsual = false;

/** `usual`: the flag that takes it back. */
export function setFlag(flag: string, usual: string): void {
  setFlagsFromString(flag);
  changed.push({ flag, usual });
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
