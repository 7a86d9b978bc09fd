/** Waiting for an end that may not come. */

import type { Clock } from "../../../abi/program.ts";
import { ABORTED } from "../../../lib/abort.ts";

/** Whether all of `ends` settled within `ms`. Leaves no timer behind. */
export async function endWithin(
  clock: Clock,
  ends: readonly Promise<unknown>[],
  ms: number,
): Promise<boolean> {
  if (ends.length === 0) return true;
  const stop = new AbortController();
  const late = clock.sleep(ms, stop.signal).then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([Promise.allSettled(ends).then(() => true), late]);
  } finally {
    stop.abort(ABORTED);
  }
}
