/** A pipe: bytes from one process to another, bounded. */
import type { OpenFile } from "../../abi/device.ts";

export interface Pipe {
  readonly reader: OpenFile;
  readonly writer: OpenFile;
}

export function makePipe(): Pipe {
  throw new Error("to be written");
}
