/** What stands beside the log of a program while a part of it waits to be written (output-log.ts, late-log.ts). */
import type { StreamName } from "../ports/natives.ts";

interface Seen {
  /** The position in the stream up to which it was looked at. */
  readonly to: number;
  /** So many bytes before it are not in the log: a secret may begin in them. */
  readonly held: number;
}

export type LogNote = Readonly<Record<StreamName, Seen>> & {
  /** The marks of the secrets that were known. */
  readonly knows: readonly string[];
};

export function encodeNote(note: LogNote): string {
  return JSON.stringify(note);
}

/** undefined: it was cut off as it was written. */
export function decodeNote(text: string): LogNote | undefined {
  try {
    return JSON.parse(text) as LogNote;
  } catch {
    return undefined;
  }
}

export function leftOut(bytes: number, stream: StreamName): Buffer {
  return Buffer.from(`\n[${bytes} bytes of ${stream} are left out here]\n`);
}
