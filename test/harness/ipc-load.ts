/** A load of the binary wire: many connections follow programs that print at full speed, and some of them stop reading. */
import * as net from "node:net";
import { PACKET } from "../../src/abi/ipc.ts";
import { FrameDecoder } from "../../src/wire/codec/frame.ts";
import { packFrame } from "../../src/wire/codec/msgpack.ts";
import { unpack } from "../../src/wire/codec/unpack.ts";

export interface Load {
  readonly socket: string;
  /** Begins the names of its programs. */
  readonly name: string;
  /** As many programs, each followed by one of them. */
  readonly connections: number;
  /** So many of them read nothing from the moment they follow. */
  readonly stalled: number;
  /** What each program prints: whole lines of `LINE_BYTES`. */
  readonly bytes: number;
}

/** What one connection got of its program, and what the kernel counted. */
export interface Followed {
  /** The program does not wait for its reader. */
  readonly isLossy: boolean;
  readonly isStalled: boolean;
  readonly got: number;
  /** What it was told that it missed. */
  readonly missed: number;
  readonly printed: number;
  readonly dropped: number;
}

export interface Loaded {
  /** From the beginning until all programs have ended and all who read have read everything. */
  readonly ms: number;
  /** Each ping of those who read meanwhile: one after another, on the same connection. */
  readonly pingsMs: readonly number[];
  readonly followed: readonly Followed[];
}

/** Each program prints numbers of its own, one after another, so that what was read is known by its place. */
const LINE_BYTES = 16;
const LINES_OF_PROGRAM = 1_000_000_000;
/** How much of what was read lies between two looks at its words. */
const LOOK_BYTES = 1_008;
/** A lossy program keeps so much: less than a stalled reader misses. */
const SPOOL_BYTES = 128 * 1024;

/** `onStall`: called when all who read have read everything, and the others still stand. */
export async function runLoad(load: Load, onStall: () => void = () => {}): Promise<Loaded> {
  const readers = await Promise.all(Array.from({ length: load.connections }, () => Reader.open(load.socket)));
  try {
    const isLossy = (n: number): boolean => n < load.stalled || n % 2 === 1;
    const pids: number[] = [];
    for (const [n, reader] of readers.entries())
      pids.push(await begun(reader, { id: `${load.name}:${n}`, n, isLossy: isLossy(n), bytes: load.bytes }));
    const [standing, reading] = [readers.slice(0, load.stalled), readers.slice(load.stalled)];
    for (const { socket } of standing) socket.pause();
    const control = await Reader.open(load.socket);
    readers.push(control);
    const began = performance.now();
    for (const pid of pids) void control.ask("process.stdin.write", { pid, data: "\n" });
    const pings = reading.map((reader) => pingsOf(reader));
    await Promise.all(pids.map((pid) => control.ask("process.wait", { pid })));
    const pingsMs = (await Promise.all(pings)).flat();
    await Promise.all(reading.map(({ ended }) => ended));
    const ms = performance.now() - began;
    onStall();
    for (const { socket } of standing) socket.resume();
    const late = standing.map(async (reader, n) => {
      const pid = pids[n] ?? 0;
      readers[n] = await readOn(reader, { socket: load.socket, pid });
    });
    await Promise.all(late);
    const followed = pids.map(async (pid, n): Promise<Followed> => {
      const { streams } = (await control.ask("process.status", { pid })) as Status;
      const { got = 0, missed = 0 } = readers[n] ?? {};
      const { bytes: printed, droppedBytes: dropped } = streams.stdout;
      return { isLossy: isLossy(n), isStalled: n < load.stalled, got, missed, printed, dropped };
    });
    return { ms, pingsMs, followed: await Promise.all(followed) };
  } finally {
    for (const { socket } of readers) socket.destroy();
  }
}

/**
 * To the end of its program. One that stood for longer than a slow client is waited for was left: it connects anew, and goes
 * on where it was.
 */
async function readOn(reader: Reader, { socket, pid }: { socket: string; pid: number }): Promise<Reader> {
  try {
    await reader.ended;
    return reader;
  } catch (error) {
    if (!reader.isLeft) throw error;
  }
  const next = await Reader.open(socket);
  next.first = reader.first;
  next.got = reader.got;
  next.missed = reader.missed;
  await next.ask("process.stream.subscribe", { pid, from: next.got + next.missed, filter: "stdout" });
  await next.ended;
  return next;
}

interface Status {
  readonly streams: { readonly stdout: { readonly bytes: number; readonly droppedBytes: number } };
}

/** A program that prints once it is told to, followed by the one that started it. */
async function begun(
  reader: Reader,
  { id, n, isLossy, bytes }: { id: string; n: number; isLossy: boolean; bytes: number },
): Promise<number> {
  reader.first = n * LINES_OF_PROGRAM;
  const last = reader.first + bytes / LINE_BYTES - 1;
  const command = ["sh", "-c", `read go; exec seq -f %0${LINE_BYTES - 1}.0f ${reader.first} ${last}`];
  const options = isLossy ? { spoolBytes: SPOOL_BYTES } : { onSpoolFull: "block" };
  const { pid } = (await reader.ask("process.spawn", { id, command, options })) as { pid: number };
  await reader.ask("process.stream.subscribe", { pid, from: "start", filter: "stdout" });
  return pid;
}

/** Until its program has been read to the end. */
async function pingsOf(reader: Reader): Promise<number[]> {
  const took: number[] = [];
  while (!reader.isEnded) {
    const asked = performance.now();
    await reader.ask("kernel.ping", {});
    took.push(performance.now() - asked);
  }
  return took;
}

interface Message {
  readonly id?: string;
  readonly result?: unknown;
  readonly error?: string;
  readonly offset?: number;
  readonly data?: Uint8Array;
  readonly gap?: { readonly from: number; readonly to: number };
  readonly end?: true;
}

class Reader {
  readonly socket: net.Socket;
  /** The first number that its program prints. */
  first = 0;
  got = 0;
  missed = 0;
  isEnded = false;
  /** Its connection was closed before the end of its program. */
  isLeft = false;
  readonly ended: Promise<void>;
  readonly #end = Promise.withResolvers<void>();
  readonly #decoder = new FrameDecoder();
  readonly #asked = new Map<string, PromiseWithResolvers<unknown>>();
  #ids = 0;

  private constructor(socket: net.Socket) {
    this.socket = socket;
    this.ended = this.#end.promise;
    this.ended.catch(() => {});
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.once("close", () => {
      this.isLeft = !this.isEnded;
      const error = new Error("the connection was closed");
      this.#end.reject(error);
      for (const { reject } of this.#asked.values()) reject(error);
    });
  }

  static async open(path: string): Promise<Reader> {
    const socket = net.connect({ path });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new Reader(socket);
  }

  ask(method: string, params: object): Promise<unknown> {
    const id = String(++this.#ids);
    const answer = Promise.withResolvers<unknown>();
    this.#asked.set(id, answer);
    this.socket.write(packFrame(PACKET.request, { id, method, params }));
    return answer.promise;
  }

  #take(chunk: Buffer): void {
    for (const framed of this.#decoder.push(chunk)) {
      if (framed.kind !== "frame") throw new Error(framed.kind);
      const message = unpack(framed.payload) as Message;
      if (framed.type === PACKET.chunk) this.#follow(message);
      else if (framed.type === PACKET.response) this.#answer(message);
    }
  }

  #answer({ id = "", result, error }: Message): void {
    const answer = this.#asked.get(id);
    this.#asked.delete(id);
    if (error === undefined) answer?.resolve(result);
    else answer?.reject(new Error(error));
  }

  #follow({ offset, data, gap, end }: Message): void {
    if (offset !== this.got + this.missed) this.#end.reject(new Error(`${offset} out of order`));
    if (data !== undefined) this.#check(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    if (gap !== undefined) this.missed += gap.to - gap.from;
    if (end !== true) return;
    this.isEnded = true;
    this.#end.resolve();
  }

  /** The bytes are those that the program printed there. */
  #check(data: Buffer): void {
    const place = this.got + this.missed;
    for (let at = 0; at < data.length; at += LOOK_BYTES) {
      const line = Math.floor((place + at) / LINE_BYTES);
      const start = line * LINE_BYTES - place;
      const words = `${String(this.first + line).padStart(LINE_BYTES - 1, "0")}\n`;
      const [from, to] = [Math.max(0, start), Math.min(data.length, start + LINE_BYTES)];
      if (data.toString("latin1", from, to) !== words.slice(from - start, to - start))
        this.#end.reject(new Error(`not what the program printed at ${place + from}`));
    }
    this.got += data.length;
  }
}
