/**
 * Frames of several chunks, laid out in one buffer before their bytes are there: these are read to their places, and all of
 * it is one write. Blocks are used again: new ones cost more than what is done with them.
 */
import { IPC, type IpcChunk, PACKET } from "../../../abi/ipc.ts";
import { packBefore } from "../../codec/msgpack.ts";

const CHUNKS = 4;
/** The most bytes before the data of a chunk: its names have at most 128 each. */
const HEAD_BYTES = 512;
const FREE: ChunkBlock[] = [];
/** More than these are left to the collector. */
const MAX_FREE = 8;

/** Several chunks are read at once: a reading far behind opens the file anew. */
export const BLOCK_BYTES = CHUNKS * IPC.chunkBytes;

export class ChunkBlock {
  readonly #buffer = Buffer.allocUnsafeSlow(CHUNKS * (HEAD_BYTES + IPC.chunkBytes));
  #places: readonly Buffer[] = [];
  #bytes = 0;
  #end = 0;

  static take(): ChunkBlock {
    return FREE.pop() ?? new ChunkBlock();
  }

  readonly giveBack = (): void => {
    if (FREE.length < MAX_FREE) FREE.push(this);
  };

  /** The places of so many bytes, at most BLOCK_BYTES. `head`: of the chunk with those from `from` to `to`. */
  lay(bytes: number, head: (from: number, to: number) => IpcChunk): readonly Buffer[] {
    const places: Buffer[] = [];
    let at = 0;
    for (let from = 0; from < bytes; from += IPC.chunkBytes) {
      const to = Math.min(bytes, from + IPC.chunkBytes);
      at += packBefore(PACKET.chunk, head(from, to), to - from, this.#buffer.subarray(at));
      places.push(this.#buffer.subarray(at, at + to - from));
      at += to - from;
    }
    this.#places = places;
    this.#bytes = bytes;
    this.#end = at;
    return places;
  }

  get chunks(): number {
    return this.#places.length;
  }

  /** The frames, once all bytes are at their places; undefined: only so many came. */
  framesOf(bytes: number): Buffer | undefined {
    return bytes === this.#bytes ? this.#buffer.subarray(0, this.#end) : undefined;
  }

  /** A copy of the first bytes. */
  bytesOf(bytes: number): Buffer {
    return Buffer.concat(this.#places, bytes);
  }
}
