/**
 * stdin, stdout and stderr of a child. stdin is a socket, as Node makes it: with a pipe that had a name, a program
 * that opens its stdin again after the end of the input would wait forever.
 */
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { ExecSpec } from "../../kernel/ports/host.ts";
import type { Launched, StdioWish } from "./launch.ts";
import { findLibc } from "./libc.ts";
import type { PipeEnds, Pipes } from "./pipes.ts";
import { Pty } from "./pty.ts";

/** The stream name under which a chunk is delivered. */
type OutputName = "stdout" | "stderr";

/** Our ends of the streams. */
export interface Streams {
  readonly stdin: Writable | null;
  /** The terminal that all streams are; absent: they are none. */
  readonly pty?: Pty;
  readonly outputs: readonly OutputStream[];
}

export interface OutputStream {
  readonly name: OutputName;
  readonly stream: Readable;
  /**
   * After `count` bytes: its program writes much in small pieces and was read to the last. Who waits a moment now reads many pieces
   * at once, and its pipe has room for them.
   */
  readonly isAhead?: (count: number) => boolean;
}

export interface Started {
  readonly child: Launched;
  readonly streams: Streams;
}

type Wish = Pick<ExecSpec, "stdin" | "isMerged" | "pty">;
type Spawn = (stdio: readonly StdioWish[]) => Launched;

/** Starts a child. Throws what spawn throws; all pipes are closed then. */
export function withStreams(wish: Wish, pipes: Pipes | undefined, spawn: Spawn): Started {
  if (wish.pty !== undefined) return onTerminal(new Pty(wish.pty), spawn);
  const stdout = pipes?.open();
  if (stdout === undefined) return overSockets(wish, spawn);
  const opened = [stdout];
  try {
    // one pipe for both keeps the order in which the program writes
    const stderr = wish.isMerged === true ? undefined : pipes?.open();
    if (stderr !== undefined) opened.push(stderr);
    const child = spawn([wish.stdin ?? "ignore", stdout.writer, (stderr ?? stdout).writer]);
    const outputs = opened.map(
      (ends, i) => ({ name: i === 0 ? "stdout" : "stderr", ...reading(ends) }) as const,
    );
    return { child, streams: { stdin: child.pipes[0] ?? null, outputs } };
  } catch (error) {
    for (const { reader } of opened) closeSync(reader);
    throw error;
  } finally {
    // the child has its own copies by now
    for (const { writer } of opened) closeSync(writer);
  }
}

function onTerminal(pty: Pty, spawn: Spawn): Started {
  try {
    const child = spawn([pty.slave, pty.slave, pty.slave]);
    const outputs = [{ name: "stdout", stream: pty.output }] as const;
    return { child, streams: { stdin: pty.input, pty, outputs } };
  } catch (error) {
    pty.output.destroy();
    throw error;
  } finally {
    pty.release();
  }
}

/** All pipes are read into it: a new buffer for each reading costs more than the reading. Of no use to two at once. */
const shared = Buffer.allocUnsafeSlow(256 * 1024);
/** Of a program that has written so much, the pipe holds more: what it writes in its time on the processor is read at once. */
const MUCH_BYTES = 1024 * 1024;
const GROWN_BYTES = 1024 * 1024;
/** Together they are a quarter of what the system gives to one user; all other pipes stay as they are. */
const MAX_GROWN = 16;
let grown = 0;

/** Its "data" is borrowed: it is overwritten once the listeners have returned. */
function reading({ reader }: PipeEnds): Omit<OutputStream, "name"> {
  let bytes = 0;
  let isGrown = false;
  const callback = (count: number): boolean => {
    if (bytes < MUCH_BYTES && bytes + count >= MUCH_BYTES) isGrown = grow(reader, stream);
    bytes += count;
    const chunk = shared.subarray(0, count);
    if (stream.listenerCount("data") === 0 || stream.readableLength > 0)
      return stream.push(Buffer.from(chunk));
    stream.emit("data", chunk);
    return !stream.isPaused();
  };
  const onread = { buffer: shared, callback };
  const stream = new Socket({ fd: reader, readable: true, writable: false, onread });
  return { stream, isAhead: (count) => isGrown && count < shared.length };
}

function grow(reader: number, stream: Readable): boolean {
  if (grown >= MAX_GROWN || findLibc()?.growPipe(reader, GROWN_BYTES) !== true) return false;
  grown++;
  stream.once("close", () => grown--);
  return true;
}

function overSockets({ stdin = "ignore", isMerged }: Wish, spawn: Spawn): Started {
  const child = spawn([stdin, "pipe", "pipe"]);
  const [input = null, out = null, err = null] = child.pipes;
  const outputs = [
    { name: "stdout" as const, stream: out },
    { name: isMerged === true ? ("stdout" as const) : ("stderr" as const), stream: err },
  ];
  const present = outputs.flatMap(({ name, stream }) => (stream === null ? [] : [{ name, stream }]));
  return { child, streams: { stdin: input, outputs: present } };
}
