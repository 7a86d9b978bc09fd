/** The input of an agent at fd 0: read to its end before the first step, and given to the model as a user message. */
import { O_WRONLY } from "../abi/device.ts";
import type { Fd } from "../abi/ids.ts";
import type { Sys } from "../abi/sys.ts";

/** A larger input is stored in a file, and the model gets its path instead. */
export const INPUT_BYTES = 256 * 1024;
export const INPUT_PATH = "/var/out/input";
const READ_BYTES = 65_536;

export interface Input {
  /** The whole input, unless it exceeds INPUT_BYTES. */
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  /** Valid UTF-8. */
  readonly isText: boolean;
  /** The bytes stored at INPUT_PATH; null: no file was written. */
  readonly keptBytes: number | null;
}

/** Returns "" for an empty or blank input. Closes the fd, so that the writer knows that all was read. */
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

/** Stores a small input that is not text, so that its bytes can be read unchanged. */
async function keep(sys: Sys, chunks: readonly Uint8Array[]): Promise<number> {
  const signal = sys.ending;
  const file = await sys.open(INPUT_PATH, O_WRONLY, signal);
  for (const part of chunks) await sys.write(file, part, signal);
  return finish(sys, file);
}

/** The stored bytes: fewer than written if the size limit or a full disk cut the file. */
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
  // text contains no NUL, and decoded binary data would not help the model
  return text === null || text.includes("\u0000") ? head : `${head}\n${text}`;
}

function textOf(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}

/** Checks whether bytes that arrive in chunks are valid UTF-8. */
class Utf8Check {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #isValid = true;

  take(chunk: Uint8Array): void {
    this.#isValid &&= this.#isDecoded(() => this.#decoder.decode(chunk, { stream: true }));
  }

  /** Whether all bytes were valid and the last character is complete. */
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
