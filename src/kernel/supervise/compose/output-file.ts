/** fd 1 or 2 of a service: what it writes is heard here, and goes on along its pipes. */
import type { OpenFile } from "../../../abi/device.ts";
import { codeOf, DriverError } from "../../../abi/errors.ts";
import { type Inlet, writeToAll } from "./inlet.ts";

interface OutputListener {
  chunk?(data: Uint8Array): void;
  end?(): void;
  /** A reader takes no more: what was written is lost to it. */
  overflow?(): void;
  /** As they are at each write. */
  inlets(): readonly Inlet[];
}

export function outputFile(name: "stdout" | "stderr", listener: OutputListener): OpenFile {
  const device = `/dev/${name}`;
  return {
    read: () =>
      Promise.reject(new DriverError({ op: "Read", device, code: "PERMISSION", message: "write only" })),
    write: async (data) => {
      listener.chunk?.(data);
      try {
        writeToAll(listener.inlets(), data, device);
      } catch (error) {
        if (codeOf(error) === "UNAVAILABLE") listener.overflow?.();
        throw error;
      }
    },
    close: async () => listener.end?.(),
    stat: async () => ({ name, size: 0, isDevice: false, devicePath: device }),
  };
}
