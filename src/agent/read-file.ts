/** A small file of the tree, whole. */
import { O_RDONLY } from "../abi/device.ts";
import type { ProgramContext } from "../abi/program.ts";

const READ_BYTES = 1_048_576;

export async function readTextFile(
  { sys, signal }: Pick<ProgramContext, "sys" | "signal">,
  path: string,
): Promise<string> {
  const fd = await sys.open(path, O_RDONLY, signal);
  const decoder = new TextDecoder();
  const parts: string[] = [];
  try {
    for (;;) {
      const bytes = await sys.read(fd, READ_BYTES, signal);
      parts.push(decoder.decode(bytes, { stream: true }));
      if (bytes.byteLength < READ_BYTES) break;
    }
  } finally {
    await sys.close(fd).catch(() => undefined);
  }
  return parts.join("") + decoder.decode();
}
