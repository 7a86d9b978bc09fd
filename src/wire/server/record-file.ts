/**
 * A file of records, one per line, as `crux journal --json` prints them. The caller may name any file: only regular
 * files are opened, and at most one line is in memory.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Fault } from "../../abi/errors.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";

/**
 * The most bytes of one line. A body has at most 64 MiB, and is longer as JSON only if it consists of control
 * characters.
 */
const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** INVALID with the number of the line that is not a record; NOT_FOUND, UNAVAILABLE: the file cannot be read. */
export async function* recordsIn(
  path: string,
  signal: AbortSignal,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<JournalRecord> {
  let number = 0;
  try {
    await checkRegular(path);
    for await (const line of linesOf(path, signal, maxLineBytes)) {
      number++;
      if (line === undefined) throw noRecord(path, number, `it has more than ${maxLineBytes} bytes`);
      if (line.trim() !== "") yield recordOf(path, number, line);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof Fault ? error : unreadable(path, error);
  }
}

/** Anything but a regular file may block, never end, or have effects when opened. */
async function checkRegular(path: string): Promise<void> {
  if ((await stat(path)).isFile()) return;
  throw new Fault({ code: "INVALID", message: `not a regular file: ${path}` });
}

/** undefined: the line is too long, and is the last one yielded. */
async function* linesOf(
  path: string,
  signal: AbortSignal,
  maxBytes: number,
): AsyncGenerator<string | undefined> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of createReadStream(path, { signal }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      if (heldBytes + end - from > maxBytes) return yield undefined;
      yield Buffer.concat([...held, chunk.subarray(from, end)]).toString("utf8");
      held = [];
      heldBytes = 0;
      from = end + 1;
    }
    held.push(chunk.subarray(from));
    heldBytes += chunk.byteLength - from;
    if (heldBytes > maxBytes) return yield undefined;
  }
  yield Buffer.concat(held).toString("utf8");
}

function recordOf(path: string, number: number, line: string): JournalRecord {
  const record = parsed(line);
  const { proc, pid, seq, kind, v } = record ?? {};
  const isOne = typeof proc === "string" && typeof kind === "string";
  if (isOne && [pid, seq, v].every((each) => Number.isSafeInteger(each))) return record as JournalRecord;
  throw noRecord(path, number);
}

function noRecord(path: string, number: number, why = ""): Fault {
  const message = `line ${number} is not a record: ${path}${why === "" ? "" : `: ${why}`}`;
  return new Fault({ code: "INVALID", message, fact: { kind: "bad_recording" } });
}

function parsed(line: string): Partial<JournalRecord> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function unreadable(path: string, cause: unknown): Fault {
  const code = (cause as { code?: string }).code === "ENOENT" ? "NOT_FOUND" : "UNAVAILABLE";
  const words = cause instanceof Error ? cause.message : String(cause);
  return new Fault({ code, message: `cannot read ${path}: ${words}`, cause });
}
