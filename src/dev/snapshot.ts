/** A file whose content was created when it was opened; reads continue through that copy. */
import type { FileStat, OpenFile } from "../abi/device.ts";
import { driverError, throwIfAborted } from "./driver-error.ts";

export function snapshotFile(content: Uint8Array, stat: FileStat): OpenFile {
  let rest = content;
  return {
    async read(length, signal) {
      throwIfAborted(signal, "Read");
      const part = rest.subarray(0, length);
      rest = rest.subarray(part.byteLength);
      return part;
    },
    async write() {
      throw driverError("Write", "PERMISSION", "read-only");
    },
    async close() {
      rest = new Uint8Array(0);
    },
    async stat() {
      return stat;
    },
  };
}
