/** Digests of call arguments: enough to compare them, without keeping secrets. */
import { createHash } from "node:crypto";
import type { Redactor } from "../../lib/redact/redact.ts";

const DIGEST_BYTES = 16;
/** Left out: they may hold secrets, and the program does not choose them. */
const UNSAID = new Set(["env", "headers", "signal"]);

/**
 * The first 16 bytes of SHA-256 over the arguments as JSON, followed by their bytes; base64url. A redactor removes
 * secrets first: in a replay the arguments come without them.
 */
export function digestOf(args: unknown, redactor?: Redactor): string {
  const hash = createHash("sha256");
  const bytes: Uint8Array[] = [];
  // a Buffer has a toJSON, so `said` is no longer the Buffer itself: read it from its holder
  const text = JSON.stringify(args, function (this: Record<string, unknown>, key, said: unknown) {
    const value = this[key];
    if (UNSAID.has(key)) return undefined;
    if (!(value instanceof Uint8Array)) return said;
    const clean = redactor?.redactBytes(value) ?? value;
    bytes.push(clean);
    return clean.byteLength;
  });
  hash.update(redactor?.redact(text ?? "") ?? text ?? "");
  for (const each of bytes) hash.update(each);
  return hash.digest().subarray(0, DIGEST_BYTES).toString("base64url");
}
