/** What an agent had said when the file was opened. Of what is too long both ends are shown, and how much is left out. */
import type { FileStat, OpenFile } from "../../abi/device.ts";
import type { AgentWords } from "../../kernel/ports/proc-view.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";

const NOTHING = new Uint8Array();

/** The bytes of all of it, and of the ends that are shown: half of the most each. */
interface Extent {
  readonly total: number;
  readonly end: number;
}

async function extentOf({ pieces }: AgentWords, maxBytes: number): Promise<Extent> {
  let total = 0;
  for await (const piece of pieces()) total += Buffer.byteLength(piece);
  return { total, end: total <= maxBytes ? total : Math.floor(maxBytes / 2) };
}

/** Of the file, without the line that says what is left out. */
export async function sizeOf(words: AgentWords, maxBytes: number): Promise<number> {
  const { total, end } = await extentOf(words, maxBytes);
  return Math.min(total, 2 * end);
}

/** Holds no more than one piece in memory. */
export async function agentFile(
  words: AgentWords,
  { name, devicePath }: Pick<FileStat, "name" | "devicePath">,
  maxBytes: number,
): Promise<OpenFile> {
  const extent = await extentOf(words, maxBytes);
  const parts = partsOf(words, extent);
  let rest: Uint8Array = NOTHING;
  return {
    ...(words.labels.length === 0 ? {} : { carried: { labels: words.labels } }),
    async read(length, signal) {
      throwIfAborted(signal, "Read");
      if (rest.byteLength === 0) rest = (await parts.next()).value ?? NOTHING;
      const part = rest.subarray(0, length);
      rest = rest.subarray(part.byteLength);
      return part;
    },
    async write() {
      throw driverError("Write", "PERMISSION", "read-only");
    },
    async close() {
      rest = NOTHING;
      await parts.return(undefined);
    },
    stat: async () => ({ name, size: Math.min(extent.total, 2 * extent.end), isDevice: false, devicePath }),
  };
}

async function* partsOf(
  { pieces }: AgentWords,
  { total, end }: Extent,
): AsyncGenerator<Uint8Array, undefined> {
  const left = total - 2 * end;
  let at = 0;
  for await (const piece of pieces()) {
    const bytes = Buffer.from(piece);
    const next = at + bytes.byteLength;
    if (at < end) yield bytes.subarray(0, end - at);
    if (left > 0 && at < end && end <= next) yield Buffer.from(`\n[${left} bytes are left out]\n`);
    if (left > 0 && next > total - end) yield bytes.subarray(Math.max(0, total - end - at));
    at = next;
  }
}
