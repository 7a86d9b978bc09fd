/**
 * Pages of a conversation for display, the newest page first: each is read backwards from the journal, however long the
 * history is. The pages of a fork continue with the part it shares with its origin.
 */
import type { ErrorCode } from "../abi/errno.ts";
import { Fault } from "../abi/errors.ts";
import { withoutBoilerplate } from "../abi/fork.ts";
import type { ProcUuid } from "../abi/ids.ts";
import type { Block } from "../abi/llm.ts";
import { LIMITS } from "../kernel/limits.ts";
import { callLines } from "../kernel/log/words.ts";
import type { Journal, JournalRecord, ProcessRow } from "../kernel/ports/journal.ts";
import type {
  HistoryItem,
  HistoryPage,
  HistoryWish,
  MadeCall,
  RunFailure,
} from "../kernel/ports/sessions.ts";

/** The number of records per read, and the most reads per page, as a history may have many records without messages. */
const WINDOW = 128;
const MAX_WINDOWS = 64;

/** The page consists of items before this place. */
interface Cursor {
  readonly proc: ProcUuid;
  readonly seq: number;
}

export async function pageOf(
  journal: Pick<Journal, "read">,
  row: Pick<ProcessRow, "proc" | "lastSeq">,
  { before, limit, text = "", made = false }: HistoryWish,
): Promise<HistoryPage> {
  const words = text.toLowerCase();
  const wanted = Math.min(limit, LIMITS.historyMessages);
  let at: Cursor | null = before === undefined ? { proc: row.proc, seq: row.lastSeq + 1 } : cursorOf(before);
  const items: HistoryItem[] = [];
  const calls = made ? new MadeCalls() : undefined;
  let end: RunFailure | undefined;
  let taken: { readonly seq: number; readonly message: number } | undefined;
  for (let windows = 0; at !== null && windows < MAX_WINDOWS; windows++) {
    const { proc, seq }: Cursor = at;
    const from = Math.max(1, seq - WINDOW);
    const records = await readAll(journal, { proc, from, count: seq - from });
    at = from > 1 ? { proc, seq: from } : originOf(records[0]);
    for (const record of records.toReversed()) {
      end = failureOf(record) ?? end;
      const item = calls === undefined ? itemOf(record) : calls.in(record, itemOf(record));
      // the receipt of a message follows what was made of it
      const message = taken?.seq === record.seq + 1 ? { message: taken.message } : {};
      taken = takenIn(record);
      if (item === null) continue;
      const over = {
        ...item,
        ...(item.role === "user" ? message : {}),
        ...(end === undefined ? {} : { end }),
      };
      end = undefined;
      if (!item.text.toLowerCase().includes(words)) continue;
      items.unshift(over);
      if (items.length >= wanted) return { items, next: `${proc}:${record.seq}` };
    }
  }
  return { items, next: at === null ? undefined : `${at.proc}:${at.seq}` };
}

/** Reads `count` records; a single read of the journal may return fewer. */
async function readAll(
  journal: Pick<Journal, "read">,
  { proc, from, count }: { readonly proc: ProcUuid; readonly from: number; readonly count: number },
): Promise<readonly JournalRecord[]> {
  const records: JournalRecord[] = [];
  while (records.length < count) {
    const page = await journal.read(proc, from + records.length, count - records.length);
    if (page.length === 0) break;
    records.push(...page);
  }
  return records;
}

function takenIn({ kind, seq, body }: JournalRecord) {
  return kind === "mail.done" ? { seq, message: (body as { readonly seq: number }).seq } : undefined;
}

/** If `first` is a fork record: the place in the origin where the shared part ends. */
function originOf(first: JournalRecord | undefined): Cursor | null {
  if (first?.kind !== "process.forked") return null;
  const { from, at } = first.body as { from: ProcUuid; at: number };
  return { proc: from, seq: at + 1 };
}

/** What came of the calls, from the newest record to the oldest: a result comes before its call. */
class MadeCalls {
  readonly #results = new Map<string, Pick<MadeCall, "result" | "isError">>();
  #leftChars: number = LIMITS.historyMadeChars;

  in({ kind, body }: JournalRecord, item: HistoryItem | null): HistoryItem | null {
    const { role, content = "", blocks = [], tool_call_id: id, is_error } = (body ?? {}) as Said;
    if (kind === "ctx.record" && role === "tool" && id !== undefined)
      this.#results.set(id, {
        result: cut(content, LIMITS.historyCallChars),
        ...(is_error === true ? { isError: true } : {}),
      });
    if (item === null || item.calls.length === 0) return item;
    return {
      ...item,
      made: blocks.flatMap((block) => (block.type === "tool_use" ? [this.#made(block)] : [])),
    };
  }

  #made({ id, name: tool, input }: Extract<Block, { type: "tool_use" }>): MadeCall {
    const { length } = JSON.stringify(input) ?? "";
    const isShort = length <= LIMITS.historyCallChars;
    const { result = "", ...end } = this.#results.get(id) ?? {};
    const hasEnded = this.#results.delete(id);
    this.#leftChars -= (isShort ? length : 0) + result.length;
    if (this.#leftChars < 0) return { id, tool, ...end };
    return { id, tool, ...(isShort ? { input } : {}), ...(hasEnded ? { result } : {}), ...end };
  }
}

interface Said {
  readonly role?: string;
  readonly content?: string;
  readonly blocks?: readonly Block[];
  readonly cid?: number;
  readonly replaces?: number;
  readonly intent?: string;
  readonly tool_call_id?: string;
  readonly is_error?: boolean;
}

/** null: not a message of the conversation. */
function itemOf({ kind, body, at, seq, proc }: JournalRecord): HistoryItem | null {
  const { role, content = "", blocks = [], cid, replaces, intent = "" } = (body ?? {}) as Said;
  // a fork repeats the intent of its origin, where it is shown already
  if (kind === "process.spawned" && seq === 1 && intent !== "")
    return { role: "user", text: cut(intent), calls: [], at, seq, proc };
  if (kind !== "ctx.record" || cid !== undefined || replaces !== undefined) return null;
  if (role !== "user" && role !== "assistant") return null;
  return {
    role,
    text: cut(withoutBoilerplate({ role, content })),
    calls: callLines(blocks),
    at,
    seq,
    proc,
  };
}

/** undefined: no run ends with it, or not so. What ended a process after its run had failed is not the run's end. */
function failureOf({ kind, body }: JournalRecord): RunFailure | undefined {
  if (kind === "process.failed_run") return body as RunFailure;
  if (kind !== "process.exited") return undefined;
  const { code = 0, reason = "", error } = (body ?? {}) as Exited;
  if (code === 0) return undefined;
  return { outcome: "failed", message: reason, ...(error === undefined ? {} : { code: error.code }) };
}

interface Exited {
  readonly code?: number;
  readonly reason?: string;
  readonly error?: { readonly code: ErrorCode };
}

function cut(text: string, most: number = LIMITS.historyTextChars): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

function cursorOf(text: string): Cursor {
  const found = /^([0-9a-f-]{36}):(\d{1,15})$/.exec(text);
  if (found === null) throw new Fault({ code: "INVALID", message: "before: not the next of a page" });
  return { proc: found[1] as ProcUuid, seq: Number(found[2]) };
}
