/** Arguments of a call, by their digest: enough to see that they are the same, and no secret is kept. */
import { createHash } from "node:crypto";
import type { Redactor } from "../../lib/redact.ts";

const DIGEST_BYTES = 16;
/** May hold keys, and are not the program's to choose. */
const UNSAID = new Set(["env", "headers", "signal"]);

/**
 * The first 16 bytes of SHA-256 over the arguments as JSON, bytes after it; base64url. With a redactor: as if they had come
 * without their secrets, which is how they come in a replay.
 */
export function digestOf(args: unknown, redactor?: Redactor): string {
  const hash = createHash("sha256");
  const bytes: Uint8Array[] = [];
  // a Buffer says of itself what it is before it is asked: its holder knows better
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
