/**
 * Reads the binary event stream of Amazon Web Services (https://smithy.io/2.0/aws/amazon-eventstream.html): each message has
 * its length, headers and payload, guarded by two checksums. What a message of Bedrock's holds is handed on as JSON.
 */
import { crc32 } from "node:zlib";
import { LlmError } from "../../abi/llm-error.ts";
import type { Body } from "../http/client.ts";
import { foreignJson, objectOf, stringOf } from "../json.ts";

/** Total length, length of the headers, and their checksum. */
const PRELUDE = 12;
const CHECKSUM = 4;
/** The longest message; beyond that the error is `stream_malformed`. */
const MAX_BYTES = 2 * 1024 * 1024;
/** The lengths of header values by type; undefined: they say it themselves. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16] as const;
const STRING = 7;

/**
 * The payload of each chunk, and of an exception `{type: "exception", name, message}`. A message that was cut off is dropped.
 * However the iteration ends, the body is closed.
 */
export async function* readEventStream(body: Body): AsyncGenerator<string> {
  const reader = new MessageReader();
  try {
    for (let step = await body.next(); step.done !== true; step = await body.next())
      for (const message of reader.add(
        Buffer.from(step.value.buffer, step.value.byteOffset, step.value.length),
      ))
        yield* payloadOf(message);
  } finally {
    body.close();
  }
}

interface Message {
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: string;
}

function* payloadOf({ headers, payload }: Message): Generator<string> {
  const told = objectOf(jsonOf(payload));
  if (headers.get(":message-type") === "event") {
    // other events tell of the beginning of the stream
    if (headers.get(":event-type") === "chunk")
      yield Buffer.from(stringOf(told.bytes), "base64").toString("utf8");
    return;
  }
  const name = headers.get(":exception-type") ?? headers.get(":error-code") ?? "";
  const message = stringOf(told.message) || (headers.get(":error-message") ?? "");
  yield JSON.stringify({ type: "exception", name, message });
}

/** Cuts a stream of bytes into messages. Each byte is copied at most twice, however small the pieces are. */
class MessageReader {
  #parts: Buffer[] = [];
  #size = 0;
  /** So many bytes are needed before there is something to do. */
  #needs = PRELUDE;

  /** The messages that these bytes complete. Throws `stream_malformed`. */
  *add(bytes: Buffer): Generator<Message> {
    this.#parts.push(bytes);
    this.#size += bytes.length;
    while (this.#size >= this.#needs) {
      const all = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
      this.#parts = [all];
      const total = lengthIn(all);
      this.#needs = total;
      if (all.length < total) return;
      yield messageIn(all.subarray(0, total));
      this.#parts = [all.subarray(total)];
      this.#size = all.length - total;
      this.#needs = PRELUDE;
    }
  }
}

function lengthIn(bytes: Buffer): number {
  const total = bytes.readUInt32BE(0);
  if (crc32(bytes.subarray(0, PRELUDE - CHECKSUM)) !== bytes.readUInt32BE(PRELUDE - CHECKSUM))
    throw malformed("the checksum of a length is wrong");
  if (total > MAX_BYTES) throw malformed(`a message of the reply is over ${MAX_BYTES} bytes`);
  if (total < PRELUDE + bytes.readUInt32BE(4) + CHECKSUM)
    throw malformed("a message is shorter than its headers");
  return total;
}

function messageIn(bytes: Buffer): Message {
  const end = bytes.length - CHECKSUM;
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) throw malformed("a checksum is wrong");
  const afterHeaders = PRELUDE + bytes.readUInt32BE(4);
  const headers = headersIn(bytes.subarray(PRELUDE, afterHeaders));
  return { headers, payload: bytes.toString("utf8", afterHeaders, end) };
}

/** Those that are texts. */
function headersIn(bytes: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const afterName = at + 1 + bytes.readUInt8(at);
    const name = bytes.toString("utf8", at + 1, afterName);
    at = afterName;
    const type = bytes.readUInt8(at++);
    const fixed = VALUE_BYTES[type];
    if (type >= VALUE_BYTES.length) throw malformed("a header has an unknown type");
    const length = fixed ?? bytes.readUInt16BE(at);
    if (fixed === undefined) at += 2;
    if (type === STRING) found.set(name, bytes.toString("utf8", at, at + length));
    at += length;
  }
  return found;
}

function jsonOf(text: string): unknown {
  try {
    return foreignJson(text);
  } catch {
    return undefined;
  }
}

function malformed(message: string): LlmError {
  return new LlmError({ kind: "stream_malformed", message });
}
