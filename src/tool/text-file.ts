/**
 * A text file that is about to be changed: the caller must have seen its current content. It keeps its encoding, and
 * only the part that differs is written.
 */
import { createHash } from "node:crypto";
import { codeOf } from "../abi/errors.ts";
import { shellWord } from "../lib/shell-word.ts";
import { type EncodedText, type Encoding, encodeText } from "./encoding.ts";
import { failure } from "./failure.ts";
import { findStat, readWholeFile, writeHostPart } from "./files.ts";
import { writablePath } from "./path.ts";
import { decodeFile } from "./text.ts";
import type { LookContext, RunContext } from "./tool.ts";
import { changedError, requireSeen, requireUnchanged } from "./tracker.ts";

const MAX_BYTES = 1024 * 1024 * 1024;
/** Old and new text are held in memory several times. */
export const MAX_EDITED_BYTES = 128 * 1024 * 1024;

export interface TextFile {
  readonly path: string;
  /** The path as the caller wrote it. */
  readonly shown: string;
  readonly bytes: Buffer;
  readonly text: string;
  readonly encoding: Encoding;
  /** SHA-256 of the bytes. */
  readonly sha256: string;
}

/** Callers rely on the order of the checks: missing, too large, the guard, then the content. */
export async function openTextFile(shown: string, look: LookContext): Promise<TextFile> {
  const path = writablePath(shown, look.cwd);
  const stat = await findStat(look, path);
  if (stat === undefined) throw failure("NOT_FOUND", `file not found: ${shown}`);
  if (stat.kind === "directory") throw failure("INVALID", `is a directory: ${shown}`);
  if (stat.kind !== "file") throw failure("INVALID", `not a regular file: ${shown} (${stat.kind})`);
  if (stat.size > MAX_BYTES) throw failure("INVALID", "file too large (max 1GB)");
  const seen = requireSeen(look.tracker, path, shown);
  if (stat.size > MAX_EDITED_BYTES) throw tooLargeToEdit(shown);
  const bytes = await readWholeFile(look, path, MAX_EDITED_BYTES + 1);
  if (bytes.byteLength > MAX_EDITED_BYTES) throw tooLargeToEdit(shown);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  requireUnchanged(seen, sha256, shown);
  return { path, shown, bytes, sha256, ...decode(shown, bytes) };
}

/** Replaces the content with `text`; only the part that differs is sent. */
export async function putText(file: TextFile, text: string, context: RunContext): Promise<void> {
  const part = difference(file.bytes, bytesOf(file, text));
  const written = await writeHostPart(context, file.path, { expect: file.sha256, ...part }).catch(
    (error: unknown) => {
      throw codeOf(error) === "CONFLICT" ? changedError(file.shown, error) : error;
    },
  );
  context.tracker.set(file.path, { sha256: written.sha256, source: "edit" });
}

/** The bytes of a text in the file's encoding. INVALID: the encoding cannot represent all of it. */
export function bytesOf({ shown, encoding }: Pick<TextFile, "shown" | "encoding">, text: string): Buffer {
  const encoded = encodeText(text, encoding);
  if (!("unfit" in encoded)) return encoded;
  const code = encoded.unfit.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
  const [from, to] = [shown, `${shown}.utf8`].map(shellWord);
  throw failure(
    "INVALID",
    `${shown} is ${encoding} (Latin-1), which has no ${JSON.stringify(encoded.unfit)} (U+${code}); nothing was written`,
    `Write it without, or convert the file in bash and view it again: iconv -f WINDOWS-1252 -t UTF-8 ${from} > ${to} && mv ${to} ${from}`,
  );
}

export interface Part {
  readonly at: number;
  readonly length: number;
  readonly content: Buffer;
}

/** The part between the first and the last differing byte of two texts; no UTF-8 character is split. */
export function difference(before: Buffer, after: Buffer): Part {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && before[at] === after[at]) at++;
  while (at > 0 && (isInside(before, at) || isInside(after, at))) at--;
  let tail = 0;
  while (tail < most - at && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  while (tail > 0 && isInside(after, after.length - tail)) tail--;
  const content = after.subarray(at, after.length - tail);
  return { at, length: before.length - tail - at, content };
}

/** Is this byte inside a UTF-8 character? */
function isInside(bytes: Buffer, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) === 0x80;
}

function tooLargeToEdit(shown: string): Error {
  return failure("INVALID", `too large to edit: ${shown} (max 128 MiB)`, "Use sed in bash");
}

function decode(shown: string, bytes: Buffer): EncodedText {
  const decoded = decodeFile(bytes);
  if (decoded.kind === "text") return decoded;
  throw failure("INVALID", `binary file: ${shown}`, "Only text can be edited");
}
