/**
 * Flags of V8 that are set while it runs. V8 takes compiled code only under the flags under which it was made, so what is kept for
 * the next start is made under the usual ones.
 */
import { setFlagsFromString } from "node:v8";

const undo: string[] = [];

/** `usual`: the flag that takes it back. */
export function setFlag(flag: string, usual: string): void {
  setFlagsFromString(flag);
  undo.push(usual);
}

/** Call as the process ends. */
export function takeFlagsBack(): void {
  for (const usual of undo.splice(0)) setFlagsFromString(usual);
}
