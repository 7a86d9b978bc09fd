/** The contract that every journal fulfils. Each implementation's test runs it. */
import { beforeEach, describe, expect, test } from "vitest";
import { asCallId, asPid, type ProcUuid } from "../../abi/ids.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import { MAX_BODY_BYTES, MAX_STRING_BYTES } from "./body.ts";
import { draft, type JournalBench, OTHER, of, openerOf, PROC } from "./testing/bench.ts";
import { viewsContract } from "./testing/views-contract.ts";

/** Many small strings, so that no part of it becomes a blob. */
const TOO_LARGE = Array.from({ length: 100_000 }, () => "x".repeat(20));

export function journalContract(name: string, makeBench: () => JournalBench): void {
  viewsContract(name, makeBench);
  describe(`${name}: journal contract`, () => {
    const open = openerOf(makeBench);
    let journal: Journal;
    const bodies = async (proc: ProcUuid = PROC) =>
      (await journal.read(proc, 1, 256)).map((record) => record.body);

    beforeEach(async () => {
      journal = await open();
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

    test("readAt() gives single records as they are, at most 256, and none that was never written", async () => {
      await journal.append(Array.from({ length: 300 }, (_, n) => draft("signal", n + 1)));
      const odd = Array.from({ length: 150 }, (_, n) => 2 * n + 1);
      const found = await journal.readAt(PROC, odd);
      expect(found).toEqual(
        (await journal.read(PROC, 1, 256)).filter(({ seq }) => seq % 2 === 1).concat(found.slice(128)),
      );
      expect(found.map(({ body }) => body)).toEqual(odd);
      const all = Array.from({ length: 300 }, (_, n) => n + 1);
      expect(await journal.readAt(PROC, all)).toHaveLength(256);
      expect((await journal.readAt(PROC, [299, 300, 301, 400])).map(({ seq }) => seq)).toEqual([299, 300]);
      expect(await journal.readAt(PROC, [301])).toEqual([]);
      expect(await journal.readAt(PROC, [])).toEqual([]);
      expect(await journal.readAt(OTHER, [1])).toEqual([]);
      expect((await journal.row(PROC))?.damagedAt ?? null).toBeNull();
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
      journal.note([draft("ctx.record", TOO_LARGE), draft("ctx.record", "after")]);
      const kept = await bodies();
      expect(kept).toHaveLength(2);
      expect(kept[0]).toHaveProperty("omitted");
      expect(kept[1]).toBe("after");
    });

    test("append() with a body over 1 MiB is INVALID and takes nothing of the batch", async () => {
      const tooLarge = draft("signal", TOO_LARGE);
      await expect(journal.append([draft("signal", 1), tooLarge])).rejects.toMatchObject({ code: "INVALID" });
      await expect(journal.append([draft("signal", 1n)])).rejects.toMatchObject({ code: "INVALID" });
      expect(await bodies()).toEqual([]);
      const list = Array.from({ length: MAX_BODY_BYTES / 32 }, () => "x".repeat(29));
      expect(await journal.append([draft("signal", list.with(0, "x".repeat(28)))])).toHaveLength(1);
      await expect(journal.append([draft("signal", list)])).rejects.toMatchObject({ code: "INVALID" });
      const total = Array.from({ length: 9 }, () => "y").map((y, n) => y.repeat(8 * 1024 * 1024 + n));
      await expect(journal.append([draft("signal", total)])).rejects.toMatchObject({ code: "INVALID" });
    });

    test("append() with expect is CONFLICT when the history ends elsewhere, and nothing is taken", async () => {
      expect(await journal.append([draft("signal", 1)], { expect: 0 })).toHaveLength(1);
      const late = journal.append([draft("signal", 2), draft("signal", 9, { proc: OTHER })], { expect: 0 });
      await expect(late).rejects.toMatchObject({ code: "CONFLICT" });
      const both = [
        journal.append([draft("signal", 3)], { expect: 1 }),
        journal.append([draft("signal", 4)], { expect: 1 }),
      ];
      expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
      expect(await bodies()).toEqual([1, 3]);
      expect(await bodies(OTHER)).toEqual([]);
    });

    test("a fork has the history of its own, a row that says so, and must be of a record that is there", async () => {
      await journal.append([draft("process.spawned", 1), draft("ctx.record", 2)]);
      const fork = (at: number) =>
        draft("process.forked", { from: PROC, at }, { proc: OTHER, pid: asPid(2) });
      await expect(journal.append([fork(3)])).rejects.toMatchObject({ code: "NOT_FOUND" });
      await journal.append([fork(2), draft("process.spawned", {}, { proc: OTHER, pid: asPid(2) })]);
      expect((await journal.read(OTHER, 1, 9)).map(({ seq, kind }) => [seq, kind])).toEqual([
        [1, "process.forked"],
        [2, "process.spawned"],
      ]);
      expect(await journal.row(OTHER)).toMatchObject({ forkedFrom: { proc: PROC, at: 2 }, lastSeq: 2 });
    });

    test("a fork in the same group as the record it continues from, between batches of every size", async () => {
      const own = Array.from({ length: 45 }, (_, n) => draft("ctx.record", n));
      const more = Array.from({ length: 37 }, (_, n) => draft("signal", n));
      const fork = (at: number, n: number) => [draft("process.forked", { from: PROC, at }, of(n))];
      const [, , refused, ...taken] = await Promise.allSettled([
        journal.append(own),
        journal.append(fork(45, 2)),
        journal.append(fork(46, 3)),
        journal.append(more),
        journal.append(fork(80, 3)),
      ]);
      expect(refused).toMatchObject({ status: "rejected", reason: { code: "NOT_FOUND" } });
      expect(taken.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
      // reading checks the hashes
      expect(await bodies()).toEqual([...own, ...more].map(({ body }) => body));
      expect(await bodies(of(2).proc)).toEqual([{ from: PROC, at: 45 }]);
      expect(await bodies(of(3).proc)).toEqual([{ from: PROC, at: 80 }]);
    });

    test("large strings come back whole, whatever they hold", async () => {
      const large = "ä".repeat(200_000);
      const broken = `${"x".repeat(MAX_STRING_BYTES)}\ud800`;
      const body = {
        large,
        list: [large, { broken, small: "s" }],
        $blob: "a person's own",
        $$blob: { $blob: "0".repeat(64), length: 1 },
      };
      await journal.append([draft("ctx.record", body)]);
      journal.note([draft("ctx.record", { $blob: "f".repeat(64), length: 3 })]);
      await journal.sync();
      journal = await open();
      expect(await bodies()).toEqual([body, { $blob: "f".repeat(64), length: 3 }]);
    });

    test("read() gives at most 8 MiB of bodies, large strings counted, but at least one", async () => {
      const large = "x".repeat(5 * 1024 * 1024);
      await journal.append([draft("process.spawned", large), draft("ctx.record", large), draft("signal", 3)]);
      expect((await journal.read(PROC, 1, 9)).map(({ seq }) => seq)).toEqual([1]);
      expect((await journal.read(PROC, 2, 9)).map(({ seq }) => seq)).toEqual([2, 3]);
      expect((await journal.row(PROC))?.damagedAt).toBeNull();
    });

    test("readAt() gives at most 8 MiB of bodies, large strings counted, but at least one", async () => {
      const large = "x".repeat(5 * 1024 * 1024);
      await journal.append([1, large, large, 4].map((body) => draft("ctx.record", body)));
      expect((await journal.readAt(PROC, [1, 2, 3, 4])).map(({ seq }) => seq)).toEqual([1, 2]);
      expect((await journal.readAt(PROC, [3, 4])).map(({ seq }) => seq)).toEqual([3, 4]);
      // bodies that lie in their records count alike
      const wide = Array.from({ length: 20 }, () => "y".repeat(40_000));
      const many = Array.from({ length: 20 }, () => draft("ctx.record", wide));
      await journal.append(many);
      const rest = Array.from({ length: 20 }, (_, n) => n + 5);
      const given = await journal.readAt(PROC, rest);
      expect(given.length).toBeGreaterThan(0);
      expect(given.length).toBeLessThan(20);
      expect(given.map(({ seq }) => seq)).toEqual(rest.slice(0, given.length));
      expect((await journal.readAt(PROC, rest.slice(given.length))).at(-1)?.seq).toBe(24);
      expect((await journal.read(PROC, 6, 9))[0]?.seq).toBe(6);
    });

    test("saveSnapshot() keeps the last two and drops what is too large; snapshot() gives the newest at or before", async () => {
      await journal.append(Array.from({ length: 30 }, () => draft("signal", 1)));
      for (const seq of [10, 20, 30]) await journal.saveSnapshot(PROC, seq, { seq });
      await journal.saveSnapshot(PROC, 25, "x".repeat(9 * 1024 * 1024));
      await journal.saveSnapshot(PROC, 26, 1n);
      journal = await open();
      expect(await journal.snapshot(PROC)).toEqual({ seq: 30, state: { seq: 30 } });
      expect(await journal.snapshot(PROC, 29)).toEqual({ seq: 20, state: { seq: 20 } });
      expect(await journal.snapshot(PROC, 19)).toBeUndefined();
      expect(await journal.snapshot(OTHER)).toBeUndefined();
    });

    test("putBlob() gives the SHA-256 under which getBlob() finds the bytes", async () => {
      const digest = await journal.putBlob(Buffer.from("abc"));
      expect(digest).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
      expect(await journal.putBlob(Buffer.from("abc"))).toBe(digest);
      journal = await open();
      expect(Buffer.from(await journal.getBlob(digest)).toString()).toBe("abc");
      await expect(journal.getBlob("0".repeat(64))).rejects.toMatchObject({ code: "NOT_FOUND" });
      await expect(journal.getBlob("../../head")).rejects.toMatchObject({ code: "NOT_FOUND" });
      const tooLarge = journal.putBlob(new Uint8Array(64 * 1024 * 1024 + 1));
      await expect(tooLarge).rejects.toMatchObject({ code: "INVALID" });
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
      await expect(journal.putBlob(new Uint8Array())).rejects.toMatchObject({ code: "UNAVAILABLE" });
      journal.note([draft("signal", 4)]);
      journal = await open();
      expect(await bodies()).toEqual([1, 2]);
    });
  });
}
