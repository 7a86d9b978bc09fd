import { describe, expect, test } from "vitest";
import { draft } from "./contract.ts";
import { JournalFault } from "./fault.ts";
import { GroupJournal, MAX_WAITING } from "./group.ts";
import type { Entry, Ledger } from "./ledger.ts";

/** Keeps groups as they come; `fault` is what its disk does next. */
class ScriptedLedger implements Ledger {
  readonly epoch = 1;
  readonly kernelId = "k";
  readonly groups: string[][] = [];
  fault: JournalFault | undefined;
  commit(entries: readonly Entry[]) {
    if (this.fault !== undefined) throw this.fault;
    this.groups.push(entries.map((entry) => entry.body));
    return entries.map((_, index) => ({ lsn: index + 1, seq: index + 1 }));
  }
  read = () => [];
  openCalls = () => [];
  unfinished = () => [];
  lastSignals = () => [];
  processOf = () => undefined;
  highestPid = () => 0;
  highestMessage = () => 0;
  close() {}
}

function makeJournal() {
  const ledger = new ScriptedLedger();
  return { ledger, journal: new GroupJournal(ledger, { now: () => 0, mono: () => 0 }) };
}

const full = new JournalFault("journal_full", "no space");
const unsynced = new JournalFault("journal_sync_failed", "fsync");

describe("GroupJournal", () => {
  test("append() and note() of one turn are one group", async () => {
    const { ledger, journal } = makeJournal();
    journal.note([draft("signal", 1)]);
    await Promise.all([journal.append([draft("signal", 2)]), journal.append([draft("signal", 3)])]);
    await journal.append([draft("signal", 4)]);
    expect(ledger.groups).toEqual([["1", "2", "3"], ["4"]]);
    await journal.close();
  });

  test("append() on a full disk is UNAVAILABLE and takes nothing; the next one resumes", async () => {
    const { ledger, journal } = makeJournal();
    ledger.fault = full;
    await expect(journal.append([draft("signal", 1)])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(journal.health()).toEqual({ ok: false, reason: "journal_full: no space" });
    ledger.fault = undefined;
    await journal.append([draft("signal", 2)]);
    expect(ledger.groups).toEqual([["2"]]);
    expect(journal.health()).toEqual({ ok: true });
    await journal.close();
  });

  test("note() survives a refused group and keeps its place before the next append", async () => {
    const { ledger, journal } = makeJournal();
    ledger.fault = full;
    journal.note([draft("signal", 1)]);
    const refused = journal.append([draft("signal", 2)]);
    journal.note([draft("signal", 3)]);
    await expect(refused).rejects.toThrow("journal_full");
    ledger.fault = undefined;
    await journal.append([draft("signal", 4)]);
    expect(ledger.groups).toEqual([["1", "3", "4"]]);
    await journal.close();
  });

  test("a failed sync ends acknowledgement for good", async () => {
    const { ledger, journal } = makeJournal();
    ledger.fault = unsynced;
    await expect(journal.append([draft("signal", 1)])).rejects.toThrow("journal_sync_failed");
    ledger.fault = undefined;
    await expect(journal.append([draft("signal", 2)])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(journal.sync()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    journal.note([draft("signal", 3)]);
    expect(journal.health().ok).toBe(false);
    expect(ledger.groups).toEqual([]);
    await journal.close();
  });

  test("note() beyond the bound commits at once", async () => {
    const { ledger, journal } = makeJournal();
    const note = draft("signal", 0);
    journal.note(Array.from({ length: MAX_WAITING - 1 }, () => note));
    expect(ledger.groups).toHaveLength(0);
    journal.note([note]);
    expect(ledger.groups.map((group) => group.length)).toEqual([MAX_WAITING]);
    await journal.close();
  });

  test("notes that a full disk cannot take at the bound end the journal instead of leaving a hole", async () => {
    const { ledger, journal } = makeJournal();
    ledger.fault = full;
    journal.note(Array.from({ length: MAX_WAITING }, () => draft("signal", 0)));
    ledger.fault = undefined;
    await expect(journal.append([draft("signal", 1)])).rejects.toThrow("notes were lost");
    expect(ledger.groups).toEqual([]);
    await journal.close();
  });

  test("close() tells when what waited could not be synced", async () => {
    const { ledger, journal } = makeJournal();
    journal.note([draft("signal", 1)]);
    ledger.fault = full;
    await expect(journal.close()).rejects.toThrow("journal_full");
  });
});
