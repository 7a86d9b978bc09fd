/** Reads a small file of the Crux tree as a whole. */
import { O_RDONLY } from "../../abi/device.ts";
import type { Sys } from "../../abi/sys.ts";

const READ_BYTES = 1_048_576;

export async function readTextFile(sys: Sys, path: string): Promise<string> {
  const fd = await sys.open(path, O_RDONLY, sys.ending);
  const decoder = new TextDecoder();
  const parts: string[] = [];
  try {
    for (;;) {
      const bytes = await sys.read(fd, READ_BYTES, sys.ending);
      parts.push(decoder.decode(bytes, { stream: true }));
      if (bytes.byteLength < READ_BYTES) break;
    }
  } finally {
    await sys.close(fd).catch(() => undefined);
  }
  return parts.join("") + decoder.decode();
}
