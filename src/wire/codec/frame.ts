/**
 * The frames of the binary wire: 8 bytes of header (magic, version, type, length of the payload), then the payload.
 * Shared by server and client; pure and bounded: a header is judged before anything is kept for its payload.
 */
import { FRAME, PACKET, type Packet } from "../../abi/ipc.ts";

/** A larger frame is given away in the buffer that it was put together in; a smaller one's buffer is kept for the next. */
const KEEP_BYTES = 64 * 1024;
/** Up to this a frame has room for all of it once so much has come: of output, each frame is larger than what is read at once. */
const WHOLE_BYTES = 128 * 1024;
const BEGUN_BYTES = 1024;

export type Framed =
  | { readonly kind: "frame"; readonly type: Packet; readonly payload: Buffer }
  /** Not a frame of this protocol: magic, type or a length of 0. */
  | { readonly kind: "broken" }
  | { readonly kind: "version"; readonly version: number }
  | { readonly kind: "too_large"; readonly bytes: number };

export function encodeFrame(type: Packet, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME.headerBytes + payload.byteLength);
  writeHeader(frame, type, payload.byteLength);
  frame.set(payload, FRAME.headerBytes);
  return frame;
}

export function writeHeader(frame: Buffer, type: Packet, length: number): void {
  frame.writeUInt16BE(FRAME.magic, 0);
  frame[2] = FRAME.version;
  frame[3] = type;
  frame.writeUInt32BE(length, 4);
}

/**
 * Cuts chunks into frames. A fault is reported once and ends the input: the rest is ignored, because the framing is
 * lost. An unfinished frame is kept in one buffer that doubles, so many small chunks cost no quadratic copying, and a
 * large announced length costs little until its bytes arrive.
 */
export class FrameDecoder {
  #kept: Buffer = Buffer.alloc(0);
  #length = 0;
  #failed = false;

  /** The bytes of the unfinished frame. */
  get pending(): number {
    return this.#length;
  }

  push(chunk: Buffer): Framed[] {
    const out: Framed[] = [];
    let at = 0;
    while (!this.#failed && at < chunk.length) {
      const [next, framed] = this.#length === 0 ? this.#cut(chunk, at) : this.#continue(chunk, at);
      at = next;
      if (framed === undefined) continue;
      out.push(framed);
      if (framed.kind !== "frame") this.#fail();
    }
    return out;
  }

  /** A frame that lies in the chunk as a whole is not copied. */
  #cut(chunk: Buffer, at: number): [number, Framed | undefined] {
    const bytes = chunk.length - at;
    if (bytes < FRAME.headerBytes) return this.#keep(chunk, at, chunk.length, FRAME.headerBytes);
    const head = judge(chunk, at);
    if (typeof head !== "number") return [chunk.length, head];
    const end = at + FRAME.headerBytes + head;
    if (end > chunk.length) return this.#keep(chunk, at, chunk.length, end - at);
    return [end, frameOf(chunk, at, end)];
  }

  #continue(chunk: Buffer, at: number): [number, Framed | undefined] {
    if (this.#length < FRAME.headerBytes) {
      const end = Math.min(chunk.length, at + FRAME.headerBytes - this.#length);
      this.#keep(chunk, at, end, FRAME.headerBytes);
      if (this.#length < FRAME.headerBytes) return [end, undefined];
      const head = judge(this.#kept, 0);
      return typeof head === "number" ? [end, undefined] : [chunk.length, head];
    }
    const bytes = FRAME.headerBytes + this.#kept.readUInt32BE(4);
    const end = Math.min(chunk.length, at + bytes - this.#length);
    this.#keep(chunk, at, end, bytes);
    if (this.#length < bytes) return [end, undefined];
    this.#length = 0;
    const kept = this.#kept;
    if (kept.length <= KEEP_BYTES) return [end, frameOf(Buffer.from(kept.subarray(0, bytes)), 0, bytes)];
    this.#kept = Buffer.alloc(0);
    return [end, frameOf(kept, 0, bytes)];
  }

  /** `whole`: the bytes of the frame, as far as known. */
  #keep(chunk: Buffer, from: number, to: number, whole: number): [number, undefined] {
    const needed = this.#length + to - from;
    if (needed > this.#kept.length) {
      const isWhole = needed >= BEGUN_BYTES && whole <= WHOLE_BYTES;
      const doubled = Math.max(needed, 2 * this.#kept.length, BEGUN_BYTES);
      const grown = Buffer.allocUnsafe(isWhole ? whole : Math.min(doubled, Math.max(whole, KEEP_BYTES)));
      this.#kept.copy(grown, 0, 0, this.#length);
      this.#kept = grown;
    }
    chunk.copy(this.#kept, this.#length, from, to);
    this.#length = needed;
    return [to, undefined];
  }

  #fail(): void {
    this.#failed = true;
    this.#length = 0;
    this.#kept = Buffer.alloc(0);
  }
}

/** The length of the payload, or what is wrong with the header. */
function judge(bytes: Buffer, at: number): number | Framed {
  const length = bytes.readUInt32BE(at + 4);
  const version = bytes[at + 2] ?? 0;
  if (bytes.readUInt16BE(at) !== FRAME.magic) return { kind: "broken" };
  if (version !== FRAME.version) return { kind: "version", version };
  if (!isPacket(bytes[at + 3] ?? 0) || length === 0) return { kind: "broken" };
  return length > FRAME.maxPayloadBytes ? { kind: "too_large", bytes: length } : length;
}

function frameOf(bytes: Buffer, at: number, end: number): Framed {
  const type = bytes[at + 3] as Packet;
  return { kind: "frame", type, payload: bytes.subarray(at + FRAME.headerBytes, end) };
}

function isPacket(type: number): type is Packet {
  return type >= PACKET.request && type <= PACKET.chunk;
}
