/** A journal with a history, for the tests of its tools: two agents that work in turn, and a fork of the first. */
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { asCallId, asPid, asProcUuid, type ProcUuid } from "../../abi/ids.ts";
import type { Journal, JournalDraft, RecordKind } from "../../kernel/ports/journal.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { DirectScribe } from "../journal/testing/direct-scribe.ts";
import { openClerk } from "../sqlite/open-database.ts";
import { type JournalOptions, openJournal } from "../sqlite/open-journal.ts";
import { Anchors } from "./anchor.ts";
import { openTools, type StoreTools } from "./tools.ts";

export const FIRST = proc(1);
export const SECOND = proc(2);
export const FORK = proc(3);
export const LARGE = "large ".repeat(20_000);

export function proc(pid: number): ProcUuid {
  return asProcUuid(`0000000${pid}-0000-4000-8000-000000000000`);
}

export function draft(pid: number, kind: RecordKind, body: unknown, call?: string): JournalDraft {
  const made = { proc: proc(pid), pid: asPid(pid), kind, v: 1, body };
  return call === undefined ? made : { ...made, call: asCallId(call) };
}

export function spawned(pid: number, more: object = {}): JournalDraft {
  const body = {
    ppid: 0,
    kind: "agent",
    intent: `work ${pid}`,
    agent: "default",
    cwd: "/w",
    createdAt: 1_000,
    ...more,
  };
  return draft(pid, "process.spawned", body);
}

export const exited = (pid: number): JournalDraft =>
  draft(pid, "process.exited", { code: 0, reason: "completed", kind: "done", result: "" });

/** Opens a journal that writes in this thread, so that each commit has ended when it resolves. */
export function openHere(dir: string, more: Omit<JournalOptions, "dir"> = {}): Promise<Journal> {
  return openJournal({ dir, ...more }, ({ identity, maxBytes }, onNotice) => {
    const options = { maxBytes, onNotice, mono: () => performance.now() };
    return new DirectScribe(openClerk(dir, identity, options));
  });
}

export function offline(dir: string): StoreTools {
  return openTools(dir, { clock: systemClock, maxBytes: () => 2 ** 30 });
}

export function anchorsOf(
  path: string,
  journal: Journal,
  more: Partial<ConstructorParameters<typeof Anchors>[0]> = {},
) {
  const { lock } = openTools("", { clock: systemClock, maxBytes: () => 0 });
  return new Anchors({
    path,
    journal,
    clock: systemClock,
    lock,
    file: () => undefined,
    log: () => {},
    ...more,
  });
}

/** Makes a cleanly closed journal: one anchor, one call without result, 26 records of processes, and the kernel's. */
export async function makePast(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "crux-tools-"));
  const journal = await openHere(dir);
  await journal.append([spawned(1), spawned(2)]);
  for (let n = 1; n <= 8; n++) {
    await journal.append([draft(1, "ctx.record", { role: "assistant", content: `first ${n}` })]);
    await journal.append([draft(2, "ctx.record", { role: "assistant", content: `second ${n}` })]);
  }
  await journal.append([draft(3, "process.forked", { from: FIRST, at: 2 }), spawned(3)]);
  await anchorsOf(join(dir, "journal.db"), journal).close();
  await journal.append([draft(3, "ctx.record", { role: "user", content: LARGE }), exited(2)]);
  await journal.append([draft(1, "call.intent", { tool: "bash", effects: [] }, "c_1")]);
  await journal.saveSnapshot(FIRST, 5, { folded: "state" });
  await journal.close();
  return dir;
}

export function copyOf(dir: string): string {
  const copy = mkdtempSync(join(tmpdir(), "crux-tools-"));
  cpSync(dir, copy, { recursive: true });
  return copy;
}

export function sql(dir: string, text: string, ...values: SQLInputValue[]): Record<string, unknown>[] {
  const db = new DatabaseSync(join(dir, "journal.db"));
  try {
    return db.prepare(text).all(...values);
  } finally {
    db.close();
  }
}
