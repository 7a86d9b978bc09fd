/**
 * The codec of record bodies: the only code that knows their format on disk. A body is JSON text. A string in it of
 * more than MAX_STRING_BYTES is stored as a blob and replaced by `{"$blob": <SHA-256>, "length": <its bytes>}`. A key
 * `$blob` of the body itself is stored with one more `$` (likewise `$$blob`), so that no user data is mistaken for a
 * blob.
 */
import { hash } from "node:crypto";
import { Fault } from "../../abi/errors.ts";

export const MAX_BODY_BYTES = 1024 * 1024;
/** The largest string that stays in its record, in UTF-8 bytes. */
export const MAX_STRING_BYTES = 64 * 1024;
/** The largest body including its blobs, in bytes. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;

/** A large value: its bytes, and their SHA-256 in hex. */
export interface Blob {
  readonly digest: string;
  readonly bytes: Uint8Array;
}

export interface EncodedBody {
  readonly text: string;
  /** Blobs that must be durable before the record. */
  readonly blobs: readonly Blob[];
  /** Digests of the blobs that the record names: those above, and any other string in it that looks like a digest. */
  readonly names: readonly string[];
}

interface Marker {
  readonly $blob: string;
  readonly length: number;
  /** The blob is the JSON text of the string: it has lone surrogates, which UTF-8 cannot express. */
  readonly json?: true;
}

/** `undefined` becomes null. Errors: INVALID, too large or not plain data (cycles, BigInt). */
export function encodeBody(body: unknown): EncodedBody {
  const whole = stringify(body);
  const isLarge = whole.length > MAX_STRING_BYTES / 3 && Buffer.byteLength(whole) > MAX_STRING_BYTES;
  if (!isLarge && !whole.includes('$blob"')) return { text: whole, blobs: [], names: namesIn(whole) };
  const blobs = new Map<string, Blob>();
  const text = JSON.stringify(setApart(JSON.parse(whole), blobs));
  assertFits(text, blobs);
  return { text, blobs: [...blobs.values()], names: namesIn(text) };
}

/** `blobOf` returns the bytes of a blob. */
export async function decodeBody(
  text: string,
  blobOf: (digest: string) => Promise<Uint8Array>,
): Promise<unknown> {
  const body: unknown = JSON.parse(text);
  return text.includes('$blob"') ? bringBack(body, blobOf) : body;
}

/** The body without its blobs, whose markers stay in place. For bodies that are short by nature. */
export function peekBody(text: string): unknown {
  return JSON.parse(text);
}

/** Escapes a text written before blobs existed: anything in it that looks like a blob marker is user data. */
export function escapeBody(text: string): string {
  if (!text.includes('$blob"')) return text;
  return JSON.stringify(escapeKeys(JSON.parse(text)));
}

function escapeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(escapeKeys);
  if (typeof value !== "object" || value === null) return value;
  return rebuilt(value, (key, each) => [escaped(key), escapeKeys(each)]);
}

/** A digest as it appears in a marker, and in a record that names a blob by its digest alone. */
const DIGEST = /"([0-9a-f]{64})"/g;

export function namesIn(text: string): readonly string[] {
  if (text.length < 66) return [];
  const names = new Set<string>();
  for (const [, digest] of text.matchAll(DIGEST)) names.add(digest as string);
  return [...names];
}

function stringify(body: unknown): string {
  try {
    return JSON.stringify(body) ?? "null";
  } catch (cause) {
    throw new Fault({ code: "INVALID", message: "record body is not plain data", cause });
  }
}

function assertFits(text: string, blobs: ReadonlyMap<string, Blob>): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BODY_BYTES) throw tooLarge(bytes, MAX_BODY_BYTES);
  const total = [...blobs.values()].reduce((sum, blob) => sum + blob.bytes.byteLength, bytes);
  if (total > MAX_TOTAL_BYTES) throw tooLarge(total, MAX_TOTAL_BYTES);
}

function tooLarge(bytes: number, most: number): Fault {
  const message = `record body has ${bytes} bytes; the journal takes at most ${most}`;
  return new Fault({ code: "INVALID", message });
}

/** `value` is parsed JSON, so it has no cycles and no getters. */
function setApart(value: unknown, blobs: Map<string, Blob>): unknown {
  if (typeof value === "string") return setStringApart(value, blobs);
  if (Array.isArray(value)) return value.map((each) => setApart(each, blobs));
  if (typeof value !== "object" || value === null) return value;
  return rebuilt(value, (key, each) => [escaped(key), setApart(each, blobs)]);
}

function setStringApart(text: string, blobs: Map<string, Blob>): string | Marker {
  if (text.length <= MAX_STRING_BYTES / 3 || Buffer.byteLength(text) <= MAX_STRING_BYTES) return text;
  const isJson = !text.isWellFormed();
  const bytes = Buffer.from(isJson ? JSON.stringify(text) : text);
  const digest = hash("sha256", bytes, "hex");
  blobs.set(digest, { digest, bytes });
  return { $blob: digest, length: bytes.byteLength, ...(isJson ? { json: true } : {}) };
}

async function bringBack(value: unknown, blobOf: (digest: string) => Promise<Uint8Array>): Promise<unknown> {
  if (typeof value !== "object" || value === null) return value;
  if (isMarker(value)) return textOf(value, await blobOf(value.$blob));
  if (Array.isArray(value)) return inOrder(value, (each) => bringBack(each, blobOf));
  const values = await inOrder(Object.values(value), (each) => bringBack(each, blobOf));
  let n = 0;
  return rebuilt(value, (key) => [unescaped(key), values[n++]]);
}

/** Runs `map` on one value after another, so that only one large value is fetched at a time. */
async function inOrder(
  values: readonly unknown[],
  map: (each: unknown) => Promise<unknown>,
): Promise<unknown[]> {
  const done: unknown[] = [];
  for (const each of values) done.push(typeof each === "object" ? await map(each) : each);
  return done;
}

function textOf(marker: Marker, bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return marker.json === true ? JSON.parse(text) : text;
}

function isMarker(value: object): value is Marker {
  return "$blob" in value && typeof value.$blob === "string";
}

/** Keeps own keys as they are, including `__proto__`. */
function rebuilt(value: object, map: (key: string, each: unknown) => [string, unknown]): object {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => map(key, each)));
}

function escaped(key: string): string {
  return /^\$+blob$/.test(key) ? `$${key}` : key;
}

function unescaped(key: string): string {
  return /^\$\$+blob$/.test(key) ? key.slice(1) : key;
}
