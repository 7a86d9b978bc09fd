import { describe, expect, test } from "vitest";
import { JournalFault } from "../fault.ts";
import { HandClock, nextState, ToldLedger } from "../testing.ts";
import { GroupJournal } from "./group.ts";
import { MAX_WAITING } from "./group-queue.ts";
import type { JournalNotice } from "./notice.ts";
import { draft, PROC } from "./testing/bench.ts";
import { MemoryDisk, MemoryLedger } from "./testing/memory.ts";

function makeJournal() {
  const ledger = new ToldLedger(new MemoryLedger(new MemoryDisk()));
  const clock = new HandClock();
  const notices: JournalNotice[] = [];
  const journal = new GroupJournal(ledger, clock, (notice) => notices.push(notice));
  const bodies = () => ledger.groups.map((group) => group.bodies);
  return { ledger, journal, clock, bodies, events: () => notices.map(({ event }) => event) };
}

const room = { freeBytes: 10, needBytes: 20 };
const full = new JournalFault("journal_full", "no space", { room });
const unsynced = new JournalFault("journal_sync_failed", "fsync");
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("GroupJournal", () => {
  test("append() and note() of one turn are one group", async () => {
    const { bodies, journal } = makeJournal();
    journal.note([draft("signal", 1)]);
    await Promise.all([journal.append([draft("signal", 2)]), journal.append([draft("signal", 3)])]);
    await journal.append([draft("signal", 4)]);
    expect(bodies()).toEqual([["1", "2", "3"], ["4"]]);
    await journal.close();
  });

  test("while one group is committed the next gathers", async () => {
    const { bodies, journal, ledger } = makeJournal();
    const gate = Promise.withResolvers<void>();
    ledger.gate = gate.promise;
    const first = journal.append([draft("signal", 1)]);
    await turn();
    await turn();
    const later = [2, 3, 4].map((n) => journal.append([draft("signal", n)]));
    await turn();
    await turn();
    expect(bodies()).toEqual([["1"]]);
    gate.resolve();
    await Promise.all([first, ...later]);
    expect(bodies()).toEqual([["1"], ["2", "3", "4"]]);
    await journal.close();
  });

  test("the callers of a large group are answered in order, over several rounds of the event loop", async () => {
    const { journal, ledger } = makeJournal();
    const heard: (number | "round")[] = [];
    const answered = Array.from({ length: 20 }, async (_, n) => {
      await journal.append([draft("signal", n)]);
      if (heard.push(n) % 7 === 1) setImmediate(() => heard.push("round"));
      const until = performance.now() + 2;
      while (performance.now() < until);
    });
    await Promise.all(answered);
    expect(ledger.groups.length).toBe(1);
    expect(heard.filter((each) => each !== "round")).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(heard.indexOf("round")).toBeGreaterThan(0);
    await journal.close();
  });

  test("answers that nobody waits for hold up none, and the end of a process is told before the others", async () => {
    const { journal } = makeJournal();
    const heard: string[] = [];
    let rounds = 0;
    const count = (): void => void (heard.length < 3 && ++rounds && setImmediate(count));
    for (let n = 0; n < 2_000; n++) void journal.append([draft("signal", n)]);
    const tell = (what: string) => () => heard.push(what);
    const told = [
      journal.append([draft("signal", 0)]).then(tell("a call")),
      journal.append([draft("process.exited", 0)]).then(tell("an end")),
      journal.append([draft("process.spawned", 0)]).then(tell("a beginning")),
    ];
    count();
    await Promise.all(told);
    expect(heard).toEqual(["an end", "a beginning", "a call"]);
    expect(rounds).toBeLessThan(500);
    await journal.close();
  });

  test("a beginning is committed at once, with what was queued before it", async () => {
    const { bodies, journal } = makeJournal();
    const before = journal.append([draft("signal", 1)]);
    const begun = journal.append([draft("process.spawned", 2)]);
    const after = journal.append([draft("signal", 3)]);
    expect(bodies()).toEqual([["1", "2"]]);
    await Promise.all([before, begun, after]);
    expect(bodies()).toEqual([["1", "2"], ["3"]]);
    await journal.close();
  });

  test("a spawn is answered before those of a large group whose callers are at work", async () => {
    const { journal } = makeJournal();
    const heard: number[] = [];
    const kinds = [...Array.from({ length: 20 }, () => "signal" as const), "process.spawned" as const];
    await Promise.all(
      kinds.map(async (kind, n) => {
        await journal.append([draft(kind, n)]);
        heard.push(n);
      }),
    );
    expect(heard.indexOf(20)).toBeLessThan(10);
    await journal.close();
  });

  test("a group has at most 2,048 records, a batch is never split", async () => {
    const { ledger, journal } = makeJournal();
    const batch = (count: number) => journal.append(Array.from({ length: count }, () => draft("signal", 0)));
    await Promise.all([batch(2_000), batch(48), batch(1), batch(5_000), batch(1)]);
    expect(ledger.groups.map(({ bodies }) => bodies.length)).toEqual([2_048, 1, 5_000, 1]);
    await journal.close();
  });

  test("1,000 appends at once are few groups", async () => {
    const { ledger, journal } = makeJournal();
    await Promise.all(Array.from({ length: 1_000 }, (_, n) => journal.append([draft("signal", n)])));
    expect(ledger.groups.length).toBeLessThan(5);
    await journal.close();
  });

  test("read() waits for the commit under way and sees what was noted", async () => {
    const { journal, ledger } = makeJournal();
    const gate = Promise.withResolvers<void>();
    ledger.gate = gate.promise;
    const appended = journal.append([draft("signal", 1)]);
    await turn();
    journal.note([draft("signal", 2)]);
    const read = journal.read(PROC, 1, 9);
    gate.resolve();
    expect((await read).map(({ body }) => body)).toEqual([1, 2]);
    await appended;
    await journal.close();
  });

  test("append() on a full disk is UNAVAILABLE and takes nothing; after 5 s it is tried again by itself", async () => {
    const { ledger, journal, clock, bodies } = makeJournal();
    ledger.fault = full;
    const heard: unknown[] = [];
    const stop = journal.onState(({ state }) => heard.push(state));
    await expect(journal.append([draft("signal", 1)])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(journal.state).toEqual({ state: "degraded", reason: "journal_full", path: ":memory:", ...room });
    await expect(journal.append([draft("signal", 2)])).rejects.toBe(full);
    await expect(journal.sync()).rejects.toBe(full);
    expect(bodies()).toEqual([["1"]]);

    clock.advance(5_000);
    await turn();
    expect(ledger.groups.at(-1)).toEqual({ mode: "retry", bodies: [] });
    expect(journal.state.state).toBe("degraded");
    ledger.fault = undefined;
    const well = nextState(journal);
    clock.advance(5_000);
    expect(await well).toEqual({ state: "well" });
    await journal.append([draft("signal", 3)]);
    expect((await journal.read(PROC, 1, 9)).map(({ body }) => body)).toEqual([3]);
    expect(heard).toEqual(["degraded", "well"]);
    stop();
    await journal.close();
  });

  test("note() survives a refused group, may use the reserve, and keeps its place before the next append", async () => {
    const { ledger, journal, clock } = makeJournal();
    ledger.fault = full;
    journal.note([draft("signal", 1)]);
    const refused = journal.append([draft("signal", 2)]);
    journal.note([draft("signal", 3)]);
    await expect(refused).rejects.toThrow("journal_full");
    expect((await journal.read(PROC, 1, 9)).map(({ body }) => body)).toEqual([1, 3]);
    expect(ledger.groups.map(({ mode }) => mode)).toEqual(["normal", "reserve"]);
    expect(journal.state.state).toBe("degraded");
    ledger.fault = undefined;
    const well = nextState(journal);
    clock.advance(5_000);
    await well;
    await journal.append([draft("signal", 4)]);
    expect((await journal.read(PROC, 1, 9)).map(({ body }) => body)).toEqual([1, 3, 4]);
    await journal.close();
  });

  test("note() is kept in memory when the reserve is used up, and comes with the retry", async () => {
    const { ledger, journal, clock } = makeJournal();
    ledger.fault = full;
    ledger.reserveFault = full;
    journal.note([draft("signal", 1)]);
    await expect(journal.append([draft("signal", 2)])).rejects.toBe(full);
    expect(await journal.read(PROC, 1, 9)).toEqual([]);
    journal.note([draft("signal", 3)]);
    expect(await journal.read(PROC, 1, 9)).toEqual([]);
    expect(ledger.groups.map(({ mode }) => mode)).toEqual(["normal", "reserve"]);
    ledger.fault = undefined;
    const well = nextState(journal);
    clock.advance(5_000);
    await well;
    expect((await journal.read(PROC, 1, 9)).map(({ body }) => body)).toEqual([1, 3]);
    await journal.close();
  });

  test("a failed sync ends acknowledgement for good, for whoever waits and whoever comes", async () => {
    const { ledger, journal, clock, bodies } = makeJournal();
    const gate = Promise.withResolvers<void>();
    ledger.gate = gate.promise;
    ledger.fault = unsynced;
    const waiting = [journal.append([draft("signal", 1)])];
    await turn();
    await turn();
    waiting.push(journal.append([draft("signal", 2)]));
    const told = Promise.allSettled([...waiting, journal.sync()]);
    gate.resolve();
    expect((await told).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(journal.state).toMatchObject({ state: "lost", reason: "journal_sync_failed" });
    ledger.fault = undefined;
    journal.note([draft("signal", 3)]);
    await expect(journal.append([draft("signal", 4)])).rejects.toBe(unsynced);
    await expect(journal.sync()).rejects.toBe(unsynced);
    clock.advance(60_000);
    await turn();
    expect(await journal.read(PROC, 1, 9)).toEqual([]);
    expect(bodies()).toEqual([["1"]]);
    await journal.close();
  });

  test("a writer that ends while nobody waits is lost", async () => {
    const { ledger, journal } = makeJournal();
    const lost = nextState(journal);
    ledger.lose(new JournalFault("journal_writer_ended", "gone"));
    expect(await lost).toMatchObject({ state: "lost", reason: "journal_writer_ended" });
    await expect(journal.append([draft("signal", 1)])).rejects.toThrow("gone");
    await journal.close();
  });

  test("a commit over 1 s is told once; over 30 s it is degraded, until it comes back", async () => {
    const { ledger, journal, clock, events } = makeJournal();
    const gate = Promise.withResolvers<void>();
    ledger.gate = gate.promise;
    const hanging = journal.append([draft("signal", 1)]);
    await turn();
    await turn();
    for (let second = 1; second < 30; second++) {
      clock.advance(1_000);
      await turn();
    }
    expect(events()).toEqual(["journal.slow"]);
    expect(journal.state.state).toBe("well");
    clock.advance(1_000);
    await turn();
    expect(journal.state).toMatchObject({ state: "degraded", reason: "journal_slow", freeBytes: null });
    await expect(journal.append([draft("signal", 2)])).rejects.toThrow("journal_slow");
    clock.advance(5_000);
    await turn();
    gate.resolve();
    await hanging;
    expect(journal.state).toEqual({ state: "well" });
    await journal.append([draft("signal", 3)]);
    expect((await journal.read(PROC, 1, 9)).map(({ body }) => body)).toEqual([1, 3]);
    await journal.close();
  });

  test("many notes are committed at once, without a timer", async () => {
    const { ledger, journal } = makeJournal();
    const note = draft("signal", 0);
    journal.note(Array.from({ length: 2_047 }, () => note));
    await turn();
    expect(ledger.groups).toHaveLength(0);
    journal.note([note]);
    await turn();
    expect(ledger.groups.map(({ bodies }) => bodies.length)).toEqual([2_048]);
    await journal.close();
  });

  test("notes that a full disk cannot take at the bound end the journal instead of leaving a hole", async () => {
    const { ledger, journal } = makeJournal();
    ledger.fault = full;
    ledger.reserveFault = full;
    await expect(journal.append([draft("signal", 1)])).rejects.toBe(full);
    journal.note(Array.from({ length: MAX_WAITING - 1 }, () => draft("signal", 0)));
    await turn();
    expect(journal.state.state).toBe("degraded");
    journal.note([draft("signal", 0)]);
    expect(journal.state).toMatchObject({ state: "lost", reason: "journal_damaged" });
    ledger.fault = undefined;
    await expect(journal.append([draft("signal", 1)])).rejects.toThrow("65536 notes were lost");
    await journal.close();
  });

  test("putBlob() on a full disk makes the journal degraded", async () => {
    const { ledger, journal } = makeJournal();
    ledger.fault = full;
    await expect(journal.putBlob(new Uint8Array(1))).rejects.toBe(full);
    expect(journal.state.state).toBe("degraded");
    await journal.close();
  });

  test("close() tells when what waited could not be synced", async () => {
    const { ledger, journal } = makeJournal();
    journal.note([draft("signal", 1)]);
    ledger.fault = full;
    ledger.reserveFault = full;
    await expect(journal.close()).rejects.toThrow("journal_full");
  });
});
