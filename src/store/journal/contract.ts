/** The contract that every journal fulfils. Each implementation's test runs it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { asCallId, asPid, asProcUuid, type ProcUuid } from "../../abi/ids.ts";
import type { Journal, JournalDraft, RecordKind, RowFilter } from "../../kernel/ports/journal.ts";
import { MAX_BODY_BYTES, MAX_STRING_BYTES } from "./body.ts";

/** The state directory of one test; each open() stands for a new daemon on the same state. */
export interface JournalBench {
  open(): Promise<Journal>;
  /** Removes the files of the test; does not close journals. */
  remove(): Promise<void>;
}

export const PROC = asProcUuid("11111111-1111-4111-8111-111111111111");
const OTHER = asProcUuid("22222222-2222-4222-8222-222222222222");
/** Many small strings, so that no part of it becomes a blob. */
const TOO_LARGE = Array.from({ length: 100_000 }, () => "x".repeat(20));

/** The `pid` and `proc` of process `n`, for drafts. */
function of(n: number): Pick<JournalDraft, "pid" | "proc"> {
  return { pid: asPid(n), proc: asProcUuid(`00000000-0000-4000-8000-00000000000${n}`) };
}

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

    test("liveStates() gives the newest state of each process that has not ended", async () => {
      await journal.append([1, 2, 3].map((n) => draft("process.spawned", n, of(n))));
      await journal.append([
        draft("process.state", "first", of(2)),
        draft("process.state", "ended", of(3)),
        draft("process.state", "last", of(2)),
        draft("ctx.record", "later", of(2)),
        draft("process.exited", null, of(3)),
      ]);
      journal = await open();
      expect((await journal.liveStates()).map(({ pid, body }) => [pid, body])).toEqual([[2, "last"]]);
    });

    test("liveMail() and liveGroups() give what is not undone, of processes that have not ended", async () => {
      await journal.append([1, 2].map((n) => draft("process.spawned", n, of(n))));
      await journal.append([
        draft("mail.put", { seq: 7, data: "b" }, of(1)),
        draft("mail.put", { seq: 8, data: "a" }, of(2)),
        draft("mail.put", { seq: 9, data: "read" }, of(1)),
        draft("mail.done", { seq: 9 }, of(1)),
        draft("group.join", { group: 3 }, of(1)),
        draft("group.join", { group: 4 }, of(1)),
        draft("group.join", { group: 3 }, of(2)),
        draft("group.leave", { group: 4 }, of(1)),
        draft("process.exited", { code: 0, reason: "" }, of(2)),
      ]);
      journal = await open();
      expect((await journal.liveMail()).map(({ body }) => body)).toEqual([{ seq: 7, data: "b" }]);
      expect((await journal.liveGroups()).map(({ pid, body }) => [pid, body])).toEqual([[1, { group: 3 }]]);
      await journal.append([draft("process.recovered", { epoch: 2, resumed: true }, of(2))]);
      expect((await journal.liveMail()).map(({ pid }) => pid)).toEqual([1, 2]);
    });

    test("ofKind() gives all of one kind, in order", async () => {
      await journal.append([draft("grant.add", 1), draft("signal", 0), draft("grant.add", 2)]);
      await journal.append([draft("grant.add", 3, { proc: OTHER }), draft("process.state", 4)]);
      expect((await journal.ofKind(PROC, "grant.add")).map(({ body }) => body)).toEqual([1, 2]);
      expect(await journal.ofKind(PROC, "process.spawned")).toEqual([]);
    });

    test("row() is what the records of a process make of it", async () => {
      const spawned = {
        ppid: 4,
        kind: "agent",
        intent: "x".repeat(300),
        agent: "reviewer",
        cwd: "/home",
        createdAt: 1_000,
        isSession: true,
      };
      await journal.append([
        draft("process.spawned", spawned),
        draft("ctx.record", { role: "user", content: "more" }),
        draft("ctx.record", { role: "assistant", content: "yes" }),
        draft("ctx.record", { role: "user", content: "elsewhere", cid: 2 }),
        draft("call.result", { ok: true, cost: { tokens: 30, usd: 0.1 } }, { call: asCallId("c_1") }),
        draft("call.unknown", { cost: { tokens: 12, usd: null } }, { call: asCallId("c_2") }),
        draft("acct.settle", { used: 100 }),
        draft("signal", { signal: 4, paused: true, ranMs: 250.5 }),
        draft("process.described", { title: "A title", kept: true }),
      ]);
      expect(await journal.row(PROC)).toEqual({
        proc: PROC,
        pid: 1,
        ppid: 4,
        kind: "agent",
        name: "reviewer",
        intent: "x".repeat(200),
        cwd: "/home",
        isSession: true,
        createdAt: 1_000,
        lastAt: expect.any(Number),
        lastSeq: 9,
        isPaused: true,
        ranMs: 250.5,
        tokensUsed: 42,
        limitUsed: 100,
        turns: 2,
        exit: null,
        forkedFrom: null,
        title: "A title",
        isKept: true,
        damagedAt: null,
      });
      await journal.append([
        draft("signal", { paused: false }),
        draft("process.exited", { code: 3, reason: "failed" }),
      ]);
      journal = await open();
      const ended = { isPaused: false, ranMs: 250.5, exit: { code: 3, reason: "failed" }, lastSeq: 11 };
      expect(await journal.row(PROC)).toMatchObject(ended);
      await journal.append([draft("process.recovered", { epoch: 2, resumed: true })]);
      expect(await journal.row(PROC)).toMatchObject({ exit: null, lastSeq: 12 });
      expect(await journal.row(OTHER)).toBeUndefined();
    });

    test.each([
      [{ kind: "native", command: ["/usr/bin/make", "all"] }, "make"],
      [{ kind: "supervisor", supervisor: { name: "farm" } }, "farm"],
      [{ kind: "agent", agent: null }, ""],
      [null, ""],
    ])("row() of %j has the name %j", async (body, name) => {
      await journal.append([draft("process.spawned", body)]);
      expect((await journal.row(PROC))?.name).toBe(name);
    });

    test("rows() gives those that fit, newest last record first, at most 1,000", async () => {
      const spawned = (n: number, cwd: string, isSession: boolean) =>
        draft("process.spawned", { kind: "agent", intent: "", cwd, isSession }, of(n));
      await journal.append([spawned(1, "/a", true), spawned(2, "/b", false), spawned(3, "/a", false)]);
      await journal.append([
        draft("ctx.record", "newest", of(1)),
        draft("process.exited", { code: 0 }, of(2)),
      ]);
      await journal.append([
        draft("process.failed", { message: "no" }, of(4)),
        draft("signal", 1, { proc: OTHER }),
      ]);
      const pids = async (filter: RowFilter) => (await journal.rows(filter)).map(({ pid }) => pid);
      expect(await pids({})).toEqual([2, 1, 3]);
      expect(await pids({ live: true })).toEqual([1, 3]);
      expect(await pids({ live: false })).toEqual([2]);
      expect(await pids({ session: true })).toEqual([1]);
      expect(await pids({ cwd: "/a", live: true, session: false })).toEqual([3]);
      expect(await pids({ limit: 1 })).toEqual([2]);
      expect(await pids({ limit: 0 })).toEqual([]);
    });

    test("requested() gives the newest that a request has made, also to a later daemon", async () => {
      const request = { id: "a".repeat(40), digest: "d" };
      await journal.append([
        draft("process.spawned", { kind: "agent", request }, of(1)),
        draft("mail.put", { seq: 5, data: "a", request: { ...request, id: "b" } }, of(1)),
        draft("ctx.record", { request: { ...request, id: "c" } }, of(1)),
        draft("process.spawned", { kind: "agent", intent: '"request":{"id":"c"}' }, of(2)),
      ]);
      const found = async (id: string) => {
        const record = await journal.requested(id);
        return record && [record.pid, record.kind, record.seq];
      };
      for (const _daemon of [1, 2]) {
        expect(await found(request.id)).toEqual([1, "process.spawned", 1]);
        expect(await found("b")).toEqual([1, "mail.put", 2]);
        expect([await found("c"), await found("")]).toEqual([undefined, undefined]);
        await journal.close();
        journal = await open();
      }
      await journal.append([draft("process.spawned", { kind: "agent", request }, of(3))]);
      expect(await found(request.id)).toEqual([3, "process.spawned", 1]);
    });

    test("rows() of the live ones leaves none out", async () => {
      const spawned = (n: number) => draft("process.spawned", { kind: "agent", intent: "" }, of(n));
      await journal.append(Array.from({ length: 1_200 }, (_, n) => spawned(n + 1)));
      expect(await journal.rows({ live: true })).toHaveLength(1_200);
      expect(await journal.rows({})).toHaveLength(1_000);
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

    test("processOf() gives the process that had a pid", async () => {
      await journal.append([draft("process.spawned", 1, of(7))]);
      expect(await journal.processOf(asPid(7))).toBe(of(7).proc);
      expect(await journal.processOf(asPid(8))).toBeUndefined();
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
      await expect(journal.putBlob(new Uint8Array())).rejects.toMatchObject({ code: "UNAVAILABLE" });
      journal.note([draft("signal", 4)]);
      journal = await open();
      expect(await bodies()).toEqual([1, 2]);
    });
  });
}
