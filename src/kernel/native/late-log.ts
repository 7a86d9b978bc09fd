/**
 * Completes the logs of programs whose daemon died before it had written them: from their streams, which have every byte, as
 * the daemon would have done. Redaction holds across the seam: it begins before it, and where a secret that was known then is
 * not known now, the bytes are left out.
 */
import { RedactedBytes } from "../../lib/redact/bytes.ts";
import type { Redactor } from "../../lib/redact/redact.ts";
import { LIMITS } from "../limits.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { StreamName } from "../ports/natives.ts";
import type { KeptSpool, SpoolStore } from "../ports/spools.ts";
import { decodeNote, type LogNote, leftOut } from "./log-note.ts";
import { LEAD_BYTES } from "./output-log.ts";

const READ_BYTES = 64 * 1024;
const never = new AbortController().signal;

/** What one stream has that the log has not. */
interface Missing {
  readonly stream: StreamName;
  readonly spool: KeptSpool;
  readonly to: number;
  readonly held: number;
  readonly bytes: number;
}

export async function completeLogs({
  spools,
  redactor,
}: Pick<KernelPorts, "spools" | "redactor">): Promise<void> {
  try {
    for (const each of spools.unfinished()) {
      const seen = decodeNote(each.note);
      const missing = seen === undefined ? [] : missingOf(spools, each.name, seen);
      each.finish(seen === undefined ? Buffer.alloc(0) : await restOf(missing, redactor, seen));
    }
  } catch {
    // the disk gives or takes nothing: the notes stay for a later daemon
  }
}

function missingOf(spools: SpoolStore, name: string, seen: LogNote): readonly Missing[] {
  const of = (stream: StreamName, ending: string): readonly Missing[] => {
    const spool = spools.past(name.replace(/log$/, ending));
    const { to, held } = seen[stream];
    return spool === undefined || spool.bytes + held <= to
      ? []
      : [{ stream, spool, to, held, bytes: spool.bytes - to }];
  };
  return [...of("stdout", "out"), ...of("stderr", "err")];
}

/** Of more than a reader of the log is given the first part is left out. */
async function restOf(
  missing: readonly Missing[],
  redactor: Redactor | undefined,
  { knows }: LogNote,
): Promise<Buffer> {
  const known = new Set(redactor?.knownMarks());
  if (!knows.every((mark) => known.has(mark)))
    return Buffer.concat(missing.map(({ bytes, held, stream }) => leftOut(bytes + held, stream)));
  let skipped = Math.max(0, missing.reduce((sum, { bytes }) => sum + bytes, 0) - LIMITS.logTailBytes);
  const parts: Uint8Array[] = [];
  for (const each of missing) {
    const left = Math.min(each.bytes, skipped);
    skipped -= left;
    if (left > 0) parts.push(leftOut(left, each.stream));
    parts.push(...(await partsFrom(each, left === 0 ? each.to - each.held : each.to + left, redactor)));
  }
  return Buffer.concat(parts);
}

async function partsFrom(
  { spool }: Missing,
  from: number,
  redactor: Redactor | undefined,
): Promise<readonly Uint8Array[]> {
  const redacted = redactor === undefined ? undefined : new RedactedBytes(redactor);
  const reader = spool.reader(Math.max(0, from - LEAD_BYTES));
  const parts: Uint8Array[] = [];
  try {
    while (reader.position < from) {
      const lead = await reader.read(Math.min(READ_BYTES, from - reader.position), never);
      if (lead.byteLength === 0) break;
      redacted?.push(Buffer.from(lead));
    }
    // what is held back of these was given out before, or is left out
    let again = redacted?.held ?? 0;
    const add = (bytes: Uint8Array): void => {
      const skip = Math.min(again, bytes.byteLength);
      again -= skip;
      parts.push(bytes.subarray(skip));
    };
    while (reader.position < spool.bytes) {
      const bytes = Buffer.from(await reader.read(READ_BYTES, never));
      if (bytes.length === 0) break;
      add(redacted === undefined ? bytes : Buffer.from(redacted.push(bytes)));
    }
    if (redacted !== undefined) add(redacted.end());
    return parts;
  } finally {
    reader.close();
  }
}
