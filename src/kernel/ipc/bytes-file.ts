/** Presents given bytes as a file that is read once, from its beginning to its end. */
import type { OpenFile } from "../../abi/device.ts";
import { DriverError } from "../../abi/errors.ts";

/** The file takes ownership of `data`. `path` names it in errors. */
export function bytesFile(data: Uint8Array, path: string): OpenFile {
  let left = data;
  return {
    read: async (length) => {
      const chunk = left.slice(0, length);
      left = left.subarray(length);
      return chunk;
    },
    write: async () => {
      throw new DriverError({ op: "Write", device: path, code: "PERMISSION", message: "read only" });
    },
    close: async () => {
      left = new Uint8Array();
    },
    stat: async () => ({ name: "stdin", size: data.byteLength, isDevice: false, devicePath: path }),
  };
}
