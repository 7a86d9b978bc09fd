/**
 * Follows one output stream of a program: a position in its spool. A slow client costs no memory and holds up neither
 * the program nor others: what it has not read stays on disk, and what was dropped there comes as one gap.
 */
import { IPC, type IpcChunk, PACKET } from "../../../abi/ipc.ts";
import type { Native, StreamName } from "../../../kernel/ports/natives.ts";
import type { BlockReader, KeptSpool } from "../../../kernel/ports/spools.ts";
import { ABORTED } from "../../../lib/abort.ts";
import { packFrame } from "../../codec/msgpack.ts";
import { BLOCK_BYTES, ChunkBlock } from "./chunk-block.ts";
import { LineSplitter, type SplitLine } from "./line-splitter.ts";

export interface FrameOutput {
  /** Resolves when there is room for one message more. */
  room(): Promise<void>;
  /** One frame or several, which may not change before `onSent`. */
  send(frames: Buffer, onSent?: () => void): void;
}

/** A stream of this connection: the output of a program, or a device. */
export interface Followed {
  /** Resolves when its end was sent, or it was closed. */
  readonly over: Promise<void>;
  /** The client may be sent so many bytes more. */
  allow(bytes: number): void;
  close(): void;
  /** Never rejects. */
  run(): Promise<void>;
  /** Absent: it takes nothing. */
  feed?(chunk: Partial<IpcChunk>): void;
}

interface StreamWish {
  /** The name of the subscription. */
  readonly name: string;
  readonly native: Pick<Native, "id" | "pid">;
  readonly stream: StreamName;
  readonly spool: KeptSpool;
  readonly from: number;
  readonly mode: "chunk" | "line";
  /** "" or `kairo.`. */
  readonly prefix: string;
  /** Bytes that may be sent before more are allowed; Infinity: as the client reads. */
  readonly window: number;
}

type ChunkPart = Pick<IpcChunk, "offset" | "next"> & Partial<IpcChunk>;

export class StreamSubscription implements Followed {
  readonly native: StreamWish["native"];
  /** Resolves when the end was sent, or the subscription was closed. */
  readonly over: Promise<void>;
  readonly #wish: StreamWish;
  readonly #output: FrameOutput;
  readonly #stop = new AbortController();
  readonly #lines: LineSplitter | null;
  readonly #done = Promise.withResolvers<void>();
  #credit: number;
  #moreCredit: (() => void) | undefined;
  #hold = Promise.withResolvers<void>();
  #seq = 0;
  /** The position after what was sent, or is being split into lines. */
  #position: number;

  constructor(wish: StreamWish, output: FrameOutput) {
    this.#wish = wish;
    this.#output = output;
    this.native = wish.native;
    this.#credit = wish.window;
    this.#position = wish.from;
    this.#lines = wish.mode === "line" ? new LineSplitter() : null;
    this.over = this.#done.promise;
  }

  /** It waits for credit: nothing is sent until the client allows more. */
  get isHeld(): boolean {
    return this.#moreCredit !== undefined;
  }

  /** Resolves when it waits for credit. */
  get held(): Promise<void> {
    return this.#hold.promise;
  }

  allow(bytes: number): void {
    this.#credit = Math.min(this.#credit + bytes, IPC.maxCreditBytes);
    const wake = this.#moreCredit;
    if (wake !== undefined) this.#hold = Promise.withResolvers<void>();
    this.#moreCredit = undefined;
    wake?.();
  }

  close(): void {
    this.#stop.abort(ABORTED);
    this.#moreCredit?.();
    this.#moreCredit = undefined;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const reader = this.#wish.spool.reader(this.#wish.from);
    try {
      while (await this.#next(reader));
    } catch {
      // closed, or the spool was removed: the client asks again and is told
    } finally {
      reader.close();
      this.#done.resolve();
    }
  }

  /** False: that was the end. */
  async #next(reader: BlockReader): Promise<boolean> {
    await this.#mayGo();
    // for a client that does not read, nothing is kept but on disk
    await this.#output.room();
    const length = Math.min(BLOCK_BYTES, Math.max(1, this.#credit));
    return this.#lines === null ? this.#nextBlock(reader, length) : this.#nextLines(reader, length);
  }

  async #nextBlock(reader: BlockReader, length: number): Promise<boolean> {
    let block: ChunkBlock | undefined;
    const lend = (bytes: number) => {
      const { position } = reader;
      // what is missing before it is told first
      const seq = this.#seq + (position > this.#position ? 2 : 1);
      block ??= ChunkBlock.take();
      return block.lay(bytes, (from, to) =>
        this.#chunkOf(seq + from / IPC.chunkBytes, { offset: position + from, next: position + to }),
      );
    };
    const bytes = await reader.readInto(length, this.#stop.signal, lend);
    if (bytes === 0 || block === undefined) return this.#end();
    this.#toPosition(reader.position - bytes);
    this.#credit -= bytes;
    const frames = block.framesOf(bytes);
    if (frames === undefined) return this.#passAll(block.bytesOf(bytes));
    this.#seq += block.chunks;
    this.#position += bytes;
    this.#output.send(frames, block.giveBack);
    return true;
  }

  #passAll(data: Buffer): true {
    for (let at = 0; at < data.length; at += IPC.chunkBytes) {
      const piece = data.subarray(at, at + IPC.chunkBytes);
      const offset = this.#position;
      this.#position += piece.length;
      this.#send({ offset, next: this.#position, data: piece });
    }
    return true;
  }

  async #nextLines(reader: BlockReader, length: number): Promise<boolean> {
    const data = await reader.read(length, this.#stop.signal);
    if (data.byteLength === 0) return this.#end();
    this.#toPosition(reader.position - data.byteLength);
    for (let at = 0; at < data.byteLength; at += IPC.chunkBytes) {
      await this.#output.room();
      if (this.#stop.signal.aborted) return false;
      const piece = data.subarray(at, at + IPC.chunkBytes);
      this.#credit -= piece.byteLength;
      this.#sendLines(this.#lines?.push(piece) ?? []);
    }
    return true;
  }

  /** What was dropped before it is told. */
  #toPosition(offset: number): void {
    if (offset > this.#position + (this.#lines?.pending ?? 0)) this.#tellGap(offset);
  }

  #end(): false {
    this.#sendLines(this.#lines?.end() ?? []);
    this.#send({ offset: this.#position, next: this.#position, end: true });
    return false;
  }

  #tellGap(to: number): void {
    this.#sendLines(this.#lines?.restart() ?? []);
    this.#send({ offset: this.#position, next: to, gap: { from: this.#position, to } });
    this.#position = to;
  }

  #sendLines(lines: readonly SplitLine[]): void {
    for (let at = 0; at < lines.length; ) {
      const partial = lines.findIndex(({ isPartial }, n) => n >= at && isPartial);
      const end = Math.min(lines.length, at + IPC.linesOfFrame, partial < 0 ? Infinity : partial + 1);
      const some = lines.slice(at, end);
      const offset = this.#position;
      this.#position += some.reduce((sum, { bytes }) => sum + bytes, 0);
      const isPartial = some.at(-1)?.isPartial === true;
      const texts = some.map(({ text }) => text);
      const more = isPartial ? ({ partial: true } as const) : {};
      this.#send({ offset, next: this.#position, lines: texts, ...more });
      at = end;
    }
  }

  async #mayGo(): Promise<void> {
    while (this.#credit <= 0 && !this.#stop.signal.aborted)
      await new Promise<void>((resolve) => {
        this.#moreCredit = resolve;
        this.#hold.resolve();
      });
  }

  #send(more: ChunkPart): void {
    this.#output.send(packFrame(PACKET.chunk, this.#chunkOf(++this.#seq, more)));
  }

  #chunkOf(seq: number, more: ChunkPart): IpcChunk {
    const { name, native, stream, prefix } = this.#wish;
    const { pid, id } = native;
    return { stream: name, event: `${prefix}process.${stream}.chunk`, seq, pid, id, ...more };
  }
}
