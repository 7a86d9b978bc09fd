/** The codec of record bodies: the one place that knows how plain data lies on disk. Today it is JSON text. */
import { Fault } from "../abi/errors.ts";

export const MAX_BODY_BYTES = 1024 * 1024;

/** `undefined` becomes null. Errors: INVALID, too large or not plain data (cycles, BigInt). */
export function encodeBody(body: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(body) ?? "null";
  } catch (cause) {
    throw new Fault({ code: "INVALID", message: "record body is not plain data", cause });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BODY_BYTES) {
    const message = `record body has ${bytes} bytes; the journal takes at most ${MAX_BODY_BYTES}`;
    throw new Fault({ code: "INVALID", message });
  }
  return text;
}

export function decodeBody(text: string): unknown {
  return JSON.parse(text);
}
