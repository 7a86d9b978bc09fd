import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { Fault } from "../../../abi/errors.ts";
import { asPid } from "../../../abi/ids.ts";
import type { JournalRecord } from "../../../kernel/ports/journal.ts";
import { encodeLine } from "../../codec/ndjson.ts";
import type { Handler } from "../handler.ts";

/** Ends with the client: nobody else waits for it. */
export const processReplay: Handler<"process.replay"> = async ({ pid, path, to }, { kernel, ended }) => {
  const wish = { signal: ended, ...(to === undefined ? {} : { to }) };
  if (path !== undefined)
    return { payload: wireOf(await kernel.replays.replayRecords(() => recordsIn(path), wish)) };
  if (pid === undefined) throw new Fault({ code: "INVALID", message: "a pid or a path is missing" });
  return { payload: wireOf(await kernel.replays.replay(asPid(pid), wish)) };
};

/** Characters of a text that is shown. */
const SHOWN_CHARS = 1024 * 1024;
const SHOWN = new Set<string>([
  "process.forked",
  "process.spawned",
  "process.recovered",
  "process.log",
  "process.exited",
  "ctx.record",
]);

/** What a client saw of it, record by record. */
export const processRecords: Handler<"process.records"> = async ({ pid }, { kernel, gone }) => {
  const records = await kernel.replays.records(asPid(pid));
  return {
    payload: undefined,
    follow: async (send) => {
      for await (const record of records) {
        if (gone.aborted) return;
        if (!SHOWN.has(record.kind)) continue;
        if (!(await send(encodeLine({ type: "event", payload: shownOf(record) })))) return;
      }
      await send(encodeLine({ type: "eof" }));
    },
  };
};

function shownOf({ seq, pid, kind, at, body }: JournalRecord) {
  const words = (body ?? {}) as Record<string, unknown>;
  const { blocks: _, ...known } = words;
  const cut = Object.entries(known).map(([key, value]) => [
    key,
    typeof value === "string" ? value.slice(0, SHOWN_CHARS) : value,
  ]);
  return { seq, pid, kind, at, body: Object.fromEntries(cut) };
}

function wireOf<T extends { recorded: readonly string[] }>({ recorded, ...report }: T) {
  return { ...report, recorded: [...recorded] };
}

/** One a line, as `crux journal --json` prints them. INVALID with the number of a line that is none. */
async function* recordsIn(path: string): AsyncGenerator<JournalRecord> {
  let number = 0;
  const input = createReadStream(path);
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      number++;
      if (line.trim() !== "") yield recordOf(path, number, line);
    }
  } catch (error) {
    throw error instanceof Fault ? error : unreadable(path, error);
  } finally {
    input.destroy();
  }
}

function recordOf(path: string, number: number, line: string): JournalRecord {
  const record = parsed(line);
  const { proc, pid, seq, kind, v } = record ?? {};
  const isOne = typeof proc === "string" && typeof kind === "string";
  if (isOne && [pid, seq, v].every((each) => Number.isInteger(each))) return record as JournalRecord;
  const hint = "crux journal <pid> --json --with-prefix > file writes one";
  throw new Fault({ code: "INVALID", message: `line ${number} is no record: ${path}`, hint });
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
