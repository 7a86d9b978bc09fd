/** What every journal keeps to. Run by each implementation's test. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { asCallId, asPid, asProcUuid, type ProcUuid } from "../abi/ids.ts";
import type { Journal, JournalDraft, RecordKind } from "../kernel/ports/journal.ts";
import { MAX_BODY_BYTES } from "./body.ts";

/** A place for one test; each open() is a new daemon on the same state. */
export interface JournalBench {
  open(): Promise<Journal>;
  /** Closes nothing: removes what the test left. */
  remove(): Promise<void>;
}

export const PROC = asProcUuid("11111111-1111-4111-8111-111111111111");
const OTHER = asProcUuid("22222222-2222-4222-8222-222222222222");

export function draft(kind: RecordKind, body: unknown, more: Partial<JournalDraft> = {}): JournalDraft {
  return { proc: PROC, pid: asPid(1), kind, v: 1, body, ...more };
}

export function journalContract(name: string, makeBench: () => JournalBench): void {
  describe(`${name}: journal contract`, () => {
    let bench: JournalBench;
    let journal: Journal;
    const opened: Journal[] = [];
    const open = async () => {
      const next = await bench.open();
      opened.push(next);
      return next;
    };
    const bodies = async (proc: ProcUuid = PROC) =>
      (await journal.read(proc, 1, 256)).map((record) => record.body);

    beforeEach(async () => {
      bench = makeBench();
      journal = await open();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((each) => each.close()));
      await bench.remove();
    });

    test("append() gives rising lsn and a seq without gaps per process", async () => {
      const first = await journal.append([draft("signal", 1), draft("signal", 2, { proc: OTHER })]);
      const second = await journal.append([draft("signal", 3), draft("signal", 4, { proc: OTHER })]);
      const places = [...first, ...second];
      expect(places.map((place) => place.seq)).toEqual([1, 1, 2, 2]);
      const lsns = places.map((place) => place.lsn);
      expect(lsns).toEqual([...lsns].sort((a, b) => a - b));
      expect(new Set(lsns).size).toBe(4);
    });

    test("append() calls of one turn keep their order, each with its own places", async () => {
      const places = await Promise.all([1, 2, 3].map((n) => journal.append([draft("signal", n)])));
      expect(places.map(([place]) => place?.seq)).toEqual([1, 2, 3]);
      expect(await bodies()).toEqual([1, 2, 3]);
    });

    test("read() gives records as they were appended", async () => {
      const body = { text: "ä\u0000\u2028", list: [1, null, { deep: true }] };
      const call = asCallId("c_1f");
      const [place] = await journal.append([draft("call.intent", body, { pid: asPid(7), v: 3, call })]);
      const [record] = await journal.read(PROC, 1, 1);
      expect(record).toMatchObject({ ...place, proc: PROC, pid: 7, v: 3, kind: "call.intent", call, body });
      expect(record?.epoch).toBe(journal.epoch);
      expect(record?.at).toBeTypeOf("number");
    });

    test("read() gives a page from fromSeq on, at most 256", async () => {
      await journal.append(Array.from({ length: 300 }, (_, n) => draft("signal", n + 1)));
      expect((await journal.read(PROC, 299, 10)).map((record) => record.seq)).toEqual([299, 300]);
      expect(await journal.read(PROC, 1, 5)).toHaveLength(5);
      expect(await journal.read(PROC, 1, 1000)).toHaveLength(256);
      expect(await journal.read(PROC, 301, 10)).toEqual([]);
      expect(await journal.read(OTHER, 1, 10)).toEqual([]);
    });

    test("a stored body is a copy", async () => {
      const body = { n: 1 };
      await journal.append([draft("signal", body)]);
      body.n = 2;
      expect(await bodies()).toEqual([{ n: 1 }]);
    });

    test("note() is not overtaken by a later append, nor does it overtake an earlier one", async () => {
      const first = journal.append([draft("signal", "a")]);
      journal.note([draft("ctx.record", "b"), draft("ctx.record", "c")]);
      const last = journal.append([draft("signal", "d")]);
      await Promise.all([first, last]);
      expect(await bodies()).toEqual(["a", "b", "c", "d"]);
    });

    test("sync() makes notes durable", async () => {
      journal.note([draft("ctx.record", "noted")]);
      await journal.sync();
      journal = await open();
      expect(await bodies()).toEqual(["noted"]);
    });

    test("note() with a body that may not be kept leaves a record and no gap", async () => {
      journal.note([draft("ctx.record", "x".repeat(MAX_BODY_BYTES)), draft("ctx.record", "after")]);
      const kept = await bodies();
      expect(kept).toHaveLength(2);
      expect(kept[0]).toHaveProperty("omitted");
      expect(kept[1]).toBe("after");
    });

    test("append() with a body over 1 MiB is INVALID and takes nothing of the batch", async () => {
      const tooLarge = draft("signal", "x".repeat(MAX_BODY_BYTES));
      await expect(journal.append([draft("signal", 1), tooLarge])).rejects.toMatchObject({ code: "INVALID" });
      await expect(journal.append([draft("signal", 1n)])).rejects.toMatchObject({ code: "INVALID" });
      expect(await bodies()).toEqual([]);
      expect(await journal.append([draft("signal", "x".repeat(MAX_BODY_BYTES - 2))])).toHaveLength(1);
    });

    test("openCalls() gives intents without a result, of any process and daemon", async () => {
      const [a, b, c] = [asCallId("c_a"), asCallId("c_b"), asCallId("c_c")];
      await journal.append([
        draft("call.intent", "a", { call: a }),
        draft("call.intent", "b", { call: b }),
        draft("call.intent", "c", { call: c, proc: OTHER }),
        draft("call.result", "b", { call: b }),
      ]);
      journal = await open();
      expect((await journal.openCalls()).map((record) => record.body)).toEqual(["a", "c"]);
      await journal.append([draft("call.unknown", "c", { call: c, proc: OTHER })]);
      expect((await journal.openCalls()).map((record) => record.body)).toEqual(["a"]);
    });

    test("unfinished() gives spawned processes that have not ended, by rising pid", async () => {
      const spawned = (n: number) =>
        draft("process.spawned", n, {
          pid: asPid(n),
          proc: asProcUuid(`00000000-0000-4000-8000-00000000000${n}`),
        });
      await journal.append([spawned(5), spawned(3), spawned(4)]);
      await journal.append([{ ...spawned(3), kind: "process.state" }]);
      await journal.append([{ ...spawned(4), kind: "process.exited" }]);
      journal = await open();
      const found = await journal.unfinished();
      expect(found.map((record) => [record.pid, record.kind])).toEqual([
        [3, "process.spawned"],
        [5, "process.spawned"],
      ]);
    });

    test("lastSignals() gives the newest of each process that has not ended", async () => {
      const of = (n: number) => ({
        pid: asPid(n),
        proc: asProcUuid(`00000000-0000-4000-8000-00000000000${n}`),
      });
      await journal.append([1, 2, 3].map((n) => draft("process.spawned", n, of(n))));
      await journal.append([
        draft("signal", "first", of(2)),
        draft("signal", "ended", of(3)),
        draft("signal", "last", of(2)),
        draft("ctx.record", "later", of(2)),
        draft("process.exited", null, of(3)),
      ]);
      journal = await open();
      expect((await journal.lastSignals()).map(({ pid, body }) => [pid, body])).toEqual([[2, "last"]]);
    });

    test("highestMessage() is 0 at first, rises with what is stored, and outlives the daemon", async () => {
      expect(journal.highestMessage()).toBe(0);
      await journal.append([7, 9, 8].map((seq) => draft("mail.put", { seq, data: "" })));
      await journal.append([draft("mail.put", null), draft("mail.done", { seq: 20 })]);
      expect(journal.highestMessage()).toBe(9);
      expect((await open()).highestMessage()).toBe(9);
    });

    test("highestPid() is 0 at first and outlives the process and the daemon", async () => {
      expect(journal.highestPid()).toBe(0);
      await journal.append([
        draft("process.spawned", null, { pid: asPid(41) }),
        draft("process.exited", null, { pid: asPid(41) }),
        draft("signal", null, { pid: asPid(7) }),
      ]);
      expect(journal.highestPid()).toBe(41);
      expect((await open()).highestPid()).toBe(41);
    });

    test("epoch rises at each open, kernelId stays", async () => {
      const next = await open();
      expect(next.epoch).toBe(journal.epoch + 1);
      expect(next.kernelId).toBe(journal.kernelId);
      expect(next.kernelId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-/);
    });

    test("lsn and seq go on where the last daemon stopped", async () => {
      const before = await journal.append([draft("signal", 1)]);
      const after = await (await open()).append([draft("signal", 2)]);
      expect([...before, ...after]).toEqual([
        { lsn: 1, seq: 1 },
        { lsn: 2, seq: 2 },
      ]);
    });

    test("close() syncs what waits; later calls are UNAVAILABLE", async () => {
      const last = journal.append([draft("signal", 1)]);
      journal.note([draft("signal", 2)]);
      await journal.close();
      await journal.close();
      await expect(last).resolves.toHaveLength(1);
      await expect(journal.append([draft("signal", 3)])).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await expect(journal.sync()).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await expect(journal.read(PROC, 1, 1)).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await expect(journal.openCalls()).rejects.toMatchObject({ code: "UNAVAILABLE" });
      expect(journal.health().ok).toBe(false);
      journal.note([draft("signal", 4)]);
      journal = await open();
      expect(await bodies()).toEqual([1, 2]);
    });
  });
}
