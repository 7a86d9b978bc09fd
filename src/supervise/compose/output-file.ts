import { codeOf, DriverError } from "../../abi/errors.ts";
import type { Label } from "../../abi/labels.ts";
import type { PipeEnd } from "../../kernel/ipc/pipe.ts";
import { uniteLabels } from "../../kernel/labels/label-set.ts";
import { type Inlet, writeToAll } from "./inlet.ts";

interface OutputListener {
  chunk?(data: Uint8Array): void;
  end?(): void;
  /** A reader takes no more: what was written is lost to it. */
  overflow?(): void;
  /** As they are at each write. */
  inlets(): readonly Inlet[];
  /** Of what a program has read, which no call of its own says. */
  labels?(): readonly Label[];
}

export function outputFile(name: "stdout" | "stderr", listener: OutputListener): PipeEnd {
  const device = `/dev/${name}`;
  const carried: PipeEnd["carried"] = { labels: [] };
  return {
    carried,
    read: () =>
      Promise.reject(new DriverError({ op: "Read", device, code: "PERMISSION", message: "write only" })),
    write: async (data) => {
      listener.chunk?.(data);
      try {
        const labels = uniteLabels(carried.labels, listener.labels?.() ?? []);
        writeToAll(listener.inlets(), device, { data, labels });
      } catch (error) {
        if (codeOf(error) === "UNAVAILABLE") listener.overflow?.();
        throw error;
      }
    },
    close: async () => listener.end?.(),
    stat: async () => ({ name, size: 0, isDevice: false, devicePath: device }),
  };
}
