/**
 * Amazon's event stream around the events of Messages (https://smithy.io/2.0/aws/amazon-eventstream.html). A frame is a text
 * whose characters are bytes.
 */
import { crc32 } from "node:zlib";
import { streamAnthropic } from "../anthropic/encode.ts";
import type { ApiError } from "../error.ts";
import type { Frame, Message } from "../message.ts";

export function* streamBedrock(message: Message): Generator<Frame> {
  for (const frame of streamAnthropic(message)) {
    const data = /^data: ([^\n]*)/m.exec(frame.text)?.[1];
    // what is not an event is not sent; the platform pads its chunks
    if (data === undefined) continue;
    const payload = { bytes: Buffer.from(data).toString("base64"), p: "abcdefgh" };
    yield { ...frame, text: framed({ ":event-type": "chunk", ":message-type": "event" }, payload) };
  }
}

export function bedrockErrorFrame(error: ApiError): string {
  const name = exceptionOf(error);
  const type = name.charAt(0).toLowerCase() + name.slice(1);
  return framed({ ":exception-type": type, ":message-type": "exception" }, { message: error.message });
}

export function bedrockStatus({ status }: ApiError): number {
  return status === 529 ? 503 : status;
}

const exceptions: Readonly<Record<number, string>> = {
  400: "ValidationException",
  401: "UnrecognizedClientException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  424: "ModelStreamErrorException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
};

export function exceptionOf(error: ApiError): string {
  return exceptions[bedrockStatus(error)] ?? "InternalServerException";
}

function framed(headers: Readonly<Record<string, string>>, payload: object): string {
  const all = { ...headers, ":content-type": "application/json" };
  const head = Buffer.concat(Object.entries(all).map(([name, value]) => headerOf(name, value)));
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + head.length + body.length + 4, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, head, body, Buffer.alloc(4)]);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message.toString("latin1");
}

function headerOf(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)];
  return Buffer.concat([
    Buffer.from([key.length]),
    key,
    Buffer.from([7, text.length >> 8, text.length & 255]),
    text,
  ]);
}
