/** The log of a process in the journal: written while the process runs, read after it has left memory. */
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { LogEntry } from "../../abi/events.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import type { ProcessKind } from "../../abi/process.ts";
import { recordsOf } from "../facts/records.ts";
import { LIMITS } from "../limits.ts";
import type { Journal } from "../ports/journal.ts";
import { resultLines } from "./log-line.ts";

/**
 * Returns a function that journals log lines by `note`, up to `journalLogLines` and `journalLogChars`, so that an endless log
 * does not fill the disk. The last line journalled says that the rest is lost.
 */
export function keepLog(note: (entry: LogEntry) => void): (entry: LogEntry) => void {
  const left: { lines: number; chars: number } = {
    lines: LIMITS.journalLogLines,
    chars: LIMITS.journalLogChars,
  };
  return (entry) => {
    if (left.lines === 0) return;
    const message = entry.message.slice(0, LIMITS.journalWordsChars);
    left.lines--;
    left.chars -= message.length;
    if (left.lines > 0 && left.chars > 0) return note({ ...entry, message });
    left.lines = 0;
    note({ ...entry, level: "warn", message: "the log is longer than what is kept of it: the rest is lost" });
  };
}

interface LogHistory {
  readonly kind: ProcessKind;
  readonly entries: readonly LogEntry[];
}

/**
 * The newest `tail` lines, in order; if a record is damaged, the lines before it and a line that reports the damage.
 * undefined: the journal has no such process.
 */
export async function readLog(
  journal: Journal,
  uuid: ProcUuid,
  tail: number,
): Promise<LogHistory | undefined> {
  // the last lines may not be synced yet; a disk that refuses writes does not prevent reading
  await journal.sync().catch(() => {});
  let kind: ProcessKind | undefined;
  let begunAt = 0;
  let result: readonly LogEntry[] = [];
  const entries: LogEntry[] = [];
  try {
    for await (const { kind: of, at, body } of recordsOf(journal, uuid)) {
      if (of === "process.spawned") {
        kind = (body as { kind: ProcessKind }).kind;
        begunAt = at;
      }
      // the exit record may precede the last log records, but the result is shown after them
      if (of === "process.exited" && kind === "agent") result = lastLines(body as Exited, at - begunAt);
      if (of !== "process.log" || tail === 0) continue;
      entries.push(body as LogEntry);
      if (entries.length > tail) entries.shift();
    }
  } catch (error) {
    if (codeOf(error) !== "INTERNAL") throw error;
    kind ??= (await journal.row(uuid))?.kind;
    const timestampMs = entries.at(-1)?.timestampMs ?? 0;
    const message = `what follows cannot be read: ${messageOf(error)}`;
    result = [{ timestampMs, level: "error", message, fact: { kind: "damaged", pid: null } }];
  }
  if (kind === undefined) return undefined;
  return { kind, entries: tail === 0 ? [] : [...entries, ...result].slice(-tail) };
}

interface Exited {
  readonly result?: unknown;
  readonly reason?: unknown;
}

/** A process that was lost with its daemon could not log its end itself. */
function lastLines({ reason, result = "" }: Exited, timestampMs: number): LogEntry[] {
  if (reason !== "lost") return resultLines(String(result), timestampMs);
  return [{ timestampMs, level: "error", message: "error: lost, its daemon ended before it did" }];
}
