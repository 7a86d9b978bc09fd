/** What an agent was given at fd 0: read to its end before the first step, and told to the model as a message of the user. */
import { O_WRONLY } from "../abi/device.ts";
import type { Fd } from "../abi/ids.ts";
import type { Sys } from "../abi/sys.ts";

/** Beyond, the model is told of a file instead. */
export const INPUT_BYTES = 256 * 1024;
export const INPUT_PATH = "/var/out/input";
const READ_BYTES = 65_536;

export interface Input {
  /** All of it, unless it is more than INPUT_BYTES. */
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  /** Valid UTF-8. */
  readonly isText: boolean;
  /** How many of its bytes are at INPUT_PATH; null: there is no file. */
  readonly keptBytes: number | null;
}

/** "": nothing was given, or blanks only. The fd is closed then: its writer hears that all was read. */
export async function takeInput(sys: Sys, fd: Fd): Promise<string> {
  const input = await readToEnd(sys, fd);
  await sys.close(fd);
  const isEnough = input.isText || input.keptBytes !== null;
  return inputMessage(isEnough ? input : { ...input, keptBytes: await keep(sys, input.chunks) });
}

async function readToEnd(sys: Sys, fd: Fd): Promise<Input> {
  const signal = sys.ending;
  const check = new Utf8Check();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let file: Fd | null = null;
  for (;;) {
    const chunk = await sys.read(fd, READ_BYTES, signal);
    if (chunk.byteLength === 0) break;
    check.take(chunk);
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes <= INPUT_BYTES) continue;
    file ??= await sys.open(INPUT_PATH, O_WRONLY, signal);
    for (const part of chunks.splice(0)) await sys.write(file, part, signal);
  }
  const keptBytes = file === null ? null : await finish(sys, file);
  return { chunks, bytes, isText: check.end(), keptBytes };
}

/** Bytes that are no text: they may be needed as they are. */
async function keep(sys: Sys, chunks: readonly Uint8Array[]): Promise<number> {
  const signal = sys.ending;
  const file = await sys.open(INPUT_PATH, O_WRONLY, signal);
  for (const part of chunks) await sys.write(file, part, signal);
  return finish(sys, file);
}

/** What the file holds: its limit, or a full disk, may have cut it. */
async function finish(sys: Sys, file: Fd): Promise<number> {
  await sys.close(file);
  return (await sys.stat(INPUT_PATH)).size;
}

export function inputMessage({ chunks, bytes, isText, keptBytes }: Input): string {
  const text = bytes <= INPUT_BYTES ? textOf(chunks) : null;
  if (keptBytes === null) return text === null || text.trim() === "" ? "" : text;
  const size = text === null ? `${bytes} bytes, too many to show here` : `${bytes} bytes`;
  const kind = isText ? "" : ", and not valid UTF-8";
  const part = keptBytes < bytes ? `The first ${keptBytes} bytes of it are` : "All of it is";
  const head = `[the input has ${size}${kind}. ${part} at ${INPUT_PATH}: view it, or grep it]`;
  // a NUL is in no text, and what could be shown of an image says nothing
  return text === null || text.includes("\u0000") ? head : `${head}\n${text}`;
}

function textOf(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}

/** Of bytes that come in pieces. */
class Utf8Check {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #isValid = true;

  take(chunk: Uint8Array): void {
    this.#isValid &&= this.#isDecoded(() => this.#decoder.decode(chunk, { stream: true }));
  }

  /** Were all of them valid, and the last character whole? */
  end(): boolean {
    return this.#isValid && this.#isDecoded(() => this.#decoder.decode());
  }

  #isDecoded(decode: () => string): boolean {
    try {
      decode();
      return true;
    } catch {
      return false;
    }
  }
}
