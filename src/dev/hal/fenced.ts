/** Refuses what an older holder writes, and what a holder writes that only reads: for every driver. */
import type { HalChannel, HalDriver } from "../../kernel/ports/hal.ts";
import { driverError } from "../driver-error.ts";

export function fenced(driver: HalDriver): HalDriver {
  let newest = 0;
  return {
    ...driver,
    async open(fence, canWrite) {
      const channel = await driver.open(fence, canWrite);
      if (canWrite) newest = Math.max(newest, fence);
      return {
        read: (length, reading, signal) => channel.read(length, reading, signal),
        async write(data, offset, signal) {
          if (!canWrite) throw driverError("Write", "PERMISSION", "the device is read-only");
          if (fence < newest) throw driverError("Write", "CONFLICT", "claim expired");
          await channel.write(data, offset, signal);
        },
        close: () => channel.close(),
      } satisfies HalChannel;
    },
  };
}
