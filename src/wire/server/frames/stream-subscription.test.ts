import { expect, it } from "vitest";
import { asPid } from "../../../abi/ids.ts";
import { IPC, type IpcChunk } from "../../../abi/ipc.ts";
import type { BlockReader } from "../../../kernel/ports/spools.ts";
import { FrameDecoder } from "../../codec/frame.ts";
import { unpack } from "../../codec/unpack.ts";
import { StreamSubscription } from "./stream-subscription.ts";

/** Of a spool with this many bytes; bytes before `oldest` were dropped, and a reading ends at each of `seams`. */
function reading(all: Buffer, oldest: number, seams: readonly number[] = []) {
  return (from: number): BlockReader => {
    let position = from;
    const read = async (): Promise<Uint8Array> => new Uint8Array();
    return {
      get position() {
        return position;
      },
      get available() {
        return all.length - position;
      },
      read,
      readInto: async (length, _signal, lend) => {
        position = Math.max(position, oldest);
        const left = all.length - position;
        const seam = seams.find((each) => each > position) ?? Infinity;
        if (left === 0) return 0;
        let at = position;
        // twice: the file had another name the first time
        lend(1);
        for (const place of lend(Math.min(length, left))) {
          place.set(all.subarray(at, Math.min(at + place.length, seam)));
          at = Math.min(at + place.length, seam);
        }
        const bytes = at - position;
        position = at;
        return bytes;
      },
      close() {},
    };
  };
}

/** What a client is sent. The frames are copied as soon as they are sent, and their buffer is used again at once. */
async function sent(all: Buffer, reader: (from: number) => BlockReader, window = Infinity) {
  const chunks: IpcChunk[] = [];
  const output = {
    room: async () => {},
    send(frames: Buffer, onSent?: () => void) {
      for (const framed of new FrameDecoder().push(Buffer.from(frames)))
        if (framed.kind === "frame") chunks.push(unpack(framed.payload) as unknown as IpcChunk);
      if (onSent !== undefined) frames.fill(0);
      onSent?.();
      subscription.allow(window);
    },
  };
  const native = { id: "build", pid: asPid(7) };
  const spool = { bytes: all.length, reader };
  const wish = { name: "s1", native, stream: "stdout", spool, from: 0, mode: "chunk", prefix: "" } as const;
  const subscription = new StreamSubscription({ ...wish, window }, output);
  await subscription.run();
  return chunks;
}

const all = Buffer.from(Array.from({ length: 3 * 256 * 1024 + 5_000 }, (_, n) => n % 251));

function check(chunks: readonly IpcChunk[], from: number): void {
  expect(chunks.map(({ seq }) => seq)).toEqual(chunks.map((_, n) => n + 1));
  const data = chunks.flatMap((chunk) => (chunk.data === undefined ? [] : [chunk.data]));
  expect(Buffer.concat(data).equals(all.subarray(from))).toBe(true);
  expect(Math.max(...data.map(({ length }) => length))).toBe(IPC.chunkBytes);
  let at = 0;
  for (const { offset, next, data: bytes, gap } of chunks) {
    expect([offset, next]).toEqual([at, gap?.to ?? at + (bytes?.length ?? 0)]);
    at = next;
  }
  expect(chunks.at(-1)).toMatchObject({ end: true, offset: all.length });
}

it("a subscription has every byte once, in chunks that follow one another", async () => {
  const chunks = await sent(all, reading(all, 0));
  check(chunks, 0);
  expect(chunks).toHaveLength(14);
});

it("a reading that ends early is sent as far as it came", async () => {
  check(await sent(all, reading(all, 0, [1, 70_000, 300_001, 524_288])), 0);
});

it("what was dropped is one gap, which counts as a chunk", async () => {
  const chunks = await sent(all, reading(all, 99_999, [250_000]));
  check(chunks, 99_999);
  expect(chunks.filter(({ gap }) => gap !== undefined)).toHaveLength(1);
  expect(chunks[0]?.gap).toEqual({ from: 0, to: 99_999 });
});

it("no more is sent than the window has room for", async () => {
  const chunks = await sent(all, reading(all, 0), 100_000);
  check(chunks, 0);
  expect(chunks.slice(0, 2).map(({ data }) => data?.length)).toEqual([65_536, 34_464]);
});
