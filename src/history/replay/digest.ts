/** Digests of call arguments: enough to compare them, without keeping secrets. */
import { createHash } from "node:crypto";
import { Running } from "../../lib/grow/running.ts";
import { partsOf, type RequestParts } from "../../lib/parts.ts";
import type { Redactor } from "../../lib/redact/redact.ts";

const DIGEST_BYTES = 16;
/** Left out: they may hold secrets, and the program does not choose them; `withCheckpoint` is a record of its own. */
const UNSAID = new Set(["env", "headers", "signal", "withCheckpoint"]);
/** Begins digests over the parts of bytes; older recordings have none. Not a character of base64url. */
const BY_PARTS = ".";

/**
 * The first 16 bytes of SHA-256 over the arguments as JSON, followed by their bytes; base64url. Of bytes with known parts, their
 * sum follows instead, and a dot precedes the digest. A redactor removes secrets first: in a replay the arguments come without them.
 */
export function digestOf(args: unknown, redactor?: Redactor): string {
  const { digest, hasParts } = digested(args, redactor, partsOf);
  return hasParts ? BY_PARTS + digest : digest;
}

/** Whether a recorded digest is that of the arguments, whose own digest is `own`. */
export function isDigestOf(recorded: string, { own, args }: { own: string; args: unknown }): boolean {
  if (own === recorded) return true;
  if (!own.startsWith(BY_PARTS) || recorded.startsWith(BY_PARTS)) return false;
  return digested(args, undefined, () => undefined).digest === recorded;
}

function digested(args: unknown, redactor: Redactor | undefined, known: typeof partsOf) {
  const hash = createHash("sha256");
  const bytes: (Uint8Array | string)[] = [];
  let hasParts = false;
  // a Buffer has a toJSON, so `said` is no longer the Buffer itself: read it from its holder
  const text = JSON.stringify(args, function (this: Record<string, unknown>, key, said: unknown) {
    const value = this[key];
    if (UNSAID.has(key)) return undefined;
    if (!(value instanceof Uint8Array)) return said;
    const parts = known(value);
    if (parts !== undefined) {
      hasParts = true;
      bytes.push(...sumsOf(parts, redactor));
      return parts.lists.length;
    }
    const clean = redactor?.redactBytes(value) ?? value;
    bytes.push(clean);
    return clean.byteLength;
  });
  hash.update(redactor?.redact(text ?? "") ?? text ?? "");
  for (const each of bytes) hash.update(each);
  return { digest: hash.digest().subarray(0, DIGEST_BYTES).toString("base64url"), hasParts };
}

/** All of the same length, so that none can stand for two. */
function sumsOf({ text, lists }: RequestParts, redactor: Redactor | undefined): string[] {
  const chain = redactor === undefined ? plain : chainOf(redactor);
  return [linked("", redactor?.redact(text) ?? text), ...lists.map((list) => chain.of(list))];
}

type Chain = Running<object, string>;

/** The hash of each part and of what precedes it; a secret that becomes known later is still in what was summed before. */
const chains = new WeakMap<Redactor, Chain>();
const plain = chained((text) => text);

function chainOf(redactor: Redactor): Chain {
  const chain = chains.get(redactor) ?? chained((text) => redactor.redact(text));
  chains.set(redactor, chain);
  return chain;
}

function chained(clean: (text: string) => string): Chain {
  return new Running(linked("", ""), (sum, part) => linked(sum, clean(JSON.stringify(part))));
}

function linked(sum: string, text: string): string {
  return createHash("sha256").update(sum).update(text).digest("base64url");
}
