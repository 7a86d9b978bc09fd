/** A text file that is about to be changed: seen before, and as it was then. What is written is only what differs. */
import { createHash } from "node:crypto";
import { codeOf } from "../abi/errors.ts";
import { failure } from "./failure.ts";
import { findStat, readWholeFile, writeHostPart } from "./files.ts";
import { writablePath } from "./path.ts";
import { decodeFile } from "./text.ts";
import type { LookContext, RunContext } from "./tool.ts";
import { changedError, requireSeen, requireUnchanged } from "./tracker.ts";

const MAX_BYTES = 1024 * 1024 * 1024;
/** Old and new text are held in memory, several times over. */
export const MAX_EDITED_BYTES = 128 * 1024 * 1024;

export interface TextFile {
  readonly path: string;
  /** As the caller wrote it. */
  readonly shown: string;
  readonly bytes: Buffer;
  readonly text: string;
  /** SHA-256 of the bytes. */
  readonly sha256: string;
}

/** The order of the checks is part of what callers rely on: missing, too large, the guard, then what it holds. */
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
  return { path, shown, bytes, sha256, text: decode(shown, bytes) };
}

/** Puts `text` in its place; only the part that differs is sent. */
export async function putText(file: TextFile, text: string, context: RunContext): Promise<void> {
  const part = difference(file.bytes, Buffer.from(text));
  const written = await writeHostPart(context, file.path, file.sha256, part).catch((error: unknown) => {
    throw codeOf(error) === "CONFLICT" ? changedError(file.shown, error) : error;
  });
  context.tracker.set(file.path, { sha256: written.sha256, source: "edit" });
}

export interface Part {
  readonly at: number;
  readonly length: number;
  readonly content: string;
}

/** What stands between the first and the last byte in which two texts in UTF-8 differ; no character is split. */
export function difference(before: Buffer, after: Buffer): Part {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && before[at] === after[at]) at++;
  while (at > 0 && (isInside(before, at) || isInside(after, at))) at--;
  let tail = 0;
  while (tail < most - at && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  while (tail > 0 && isInside(after, after.length - tail)) tail--;
  const content = after.toString("utf8", at, after.length - tail);
  return { at, length: before.length - tail - at, content };
}

/** A byte in the middle of a character. */
function isInside(bytes: Buffer, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) === 0x80;
}

function tooLargeToEdit(shown: string): Error {
  return failure("INVALID", `too large to edit: ${shown} (max 128 MiB)`, "Use sed in bash");
}

function decode(shown: string, bytes: Buffer): string {
  const decoded = decodeFile(bytes);
  if (decoded.kind === "text" && decoded.exact) return decoded.text;
  throw failure("INVALID", `not valid UTF-8: ${shown}`);
}
