/** Where a device of the settings is: on the disk, where its source may vanish and come back. */
import { existsSync } from "node:fs";
import type { Clock } from "../../abi/program.ts";
import type { HalDriver } from "../../kernel/ports/hal.ts";
import { ABORTED } from "../../lib/abort.ts";
import { driverError } from "../driver-error.ts";

export interface DiskSource {
  readonly id: string;
  /** Absolute. */
  readonly path: string;
}

/** How often it is looked whether the source is there. */
const LOOK_MS = 1_000;

/** What a driver says of its source. */
export function present(
  path: string,
  clock: Pick<Clock, "sleep">,
): Required<Pick<HalDriver, "isThere" | "watch" | "close">> {
  const stop = new AbortController();
  const isThere = (): boolean => existsSync(path);
  const look = async (tell: (isThere: boolean) => void): Promise<void> => {
    for (let was = isThere(); ; ) {
      await clock.sleep(LOOK_MS, stop.signal);
      const now = isThere();
      if (now !== was) tell(now);
      was = now;
    }
  };
  return {
    isThere,
    watch: (tell) => void look(tell).catch(() => {}),
    close: () => stop.abort(ABORTED),
  };
}

export async function readOnly(): Promise<void> {
  throw driverError("Write", "PERMISSION", "the device is read-only");
}
