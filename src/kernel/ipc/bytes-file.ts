/** Bytes that are there already, as a file that is read once. */
import type { OpenFile } from "../../abi/device.ts";
import { DriverError } from "../../abi/errors.ts";

export function bytesFile(data: Uint8Array): OpenFile {
  let at = 0;
  return {
    read: async (length) => {
      const chunk = data.subarray(at, at + length);
      at += chunk.byteLength;
      return chunk;
    },
    write: async () => {
      throw new DriverError({ op: "Write", device: "/dev/stdin", code: "PERMISSION", message: "read only" });
    },
    close: async () => {},
    stat: async () => ({ name: "stdin", size: data.byteLength, isDevice: false, devicePath: "/dev/stdin" }),
  };
}
