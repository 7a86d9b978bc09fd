/** A file whose content was created when it was opened; reads continue through that copy. */
import type { FileStat, OpenFile } from "../abi/device.ts";
import type { Label } from "../abi/labels.ts";
import { driverError, throwIfAborted } from "./driver-error.ts";

/** `labels`: of what it was made from. */
export function snapshotFile(content: Uint8Array, stat: FileStat, labels: readonly Label[] = []): OpenFile {
  let rest = content;
  return {
    ...(labels.length === 0 ? {} : { carried: { labels } }),
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
