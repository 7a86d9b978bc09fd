/** The log of a process in the journal: kept while it runs, read when it is gone. */
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { LogEntry } from "../../abi/events.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import type { ProcessKind } from "../../abi/process.ts";
import { recordsOf } from "../../history/recover/history-reader.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import { resultLines } from "./log-line.ts";

/**
 * What a process says goes into the journal with this, `journalLogLines` and `journalLogChars` of it: one that talks without
 * end does not fill the disk. The last line kept says that there was more.
 */
export function keepLog(core: Core, proc: Process): (entry: LogEntry) => void {
  const left: { lines: number; chars: number } = {
    lines: LIMITS.journalLogLines,
    chars: LIMITS.journalLogChars,
  };
  const note = (entry: LogEntry): void => core.note(proc, "process.log", entry);
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
 * Its newest `tail` lines, in order; where a record is damaged, those before it, and a line that says so. undefined: the journal
 * has no such process.
 */
export async function readLog(core: Core, uuid: ProcUuid, tail: number): Promise<LogHistory | undefined> {
  const { journal } = core.ports;
  // What it said last may wait for its group. A disk that refuses does not keep anybody from reading what is there.
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
      // it is written before the last words, and told after them
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

/** One that a daemon's death cut off could not say so itself. */
function lastLines({ reason, result = "" }: Exited, timestampMs: number): LogEntry[] {
  if (reason !== "lost") return resultLines(String(result), timestampMs);
  return [{ timestampMs, level: "error", message: "error: lost, its daemon ended before it did" }];
}
