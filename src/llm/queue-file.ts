/** `/dev/llm/<driver>/queue`: the lanes of a driver, and who waits in them, as they were when it was opened. */
import type { OpenFile } from "../abi/device.ts";
import { DriverError } from "../abi/errors.ts";
import type { LaneQueue } from "../abi/lanes.ts";

export function queueFile(device: string, lanes: readonly LaneQueue[]): OpenFile {
  const lines = lanes.map((each) => `${JSON.stringify(each)}\n`);
  const content = Buffer.from(lines.join(""));
  let at = 0;
  return {
    read: async (length) => {
      const part = content.subarray(at, at + length);
      at += part.byteLength;
      return part;
    },
    write: async () => {
      throw new DriverError({ code: "PERMISSION", op: "Write", device, message: "the queue is read-only" });
    },
    close: async () => {},
    stat: async () => ({ name: "queue", size: content.byteLength, isDevice: false, devicePath: device }),
  };
}
