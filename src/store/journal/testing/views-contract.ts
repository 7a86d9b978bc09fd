/** The part of the contract about what a journal derives from its records: rows, open calls, what is live, numbers. */
import { beforeEach, describe, expect, test } from "vitest";
import { asCallId, asPid, asProcUuid } from "../../../abi/ids.ts";
import { type Journal, type RowFilter, SPARSE_KINDS } from "../../../kernel/ports/journal.ts";
import { draft, type JournalBench, OTHER, of, openerOf, PROC } from "./bench.ts";

export function viewsContract(name: string, makeBench: () => JournalBench): void {
  describe(`${name}: journal contract, views`, () => {
    const open = openerOf(makeBench);
    let journal: Journal;

    beforeEach(async () => {
      journal = await open();
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

    test("endedMail() gives what is not undone, of those that completed below one that has not ended", async () => {
      await journal.append([
        draft("process.spawned", { ppid: 0 }, of(1)),
        ...[2, 3, 4].map((n) => draft("process.spawned", { ppid: 1 }, of(n))),
        draft("process.spawned", { ppid: 2 }, of(5)),
        ...[1, 2, 3, 4, 5].map((n) => draft("mail.put", { seq: n }, of(n))),
        draft("mail.put", { seq: 6 }, of(2)),
        draft("mail.done", { seq: 6 }, of(2)),
        ...[2, 5].map((n) => draft("process.exited", { code: 0, reason: "completed" }, of(n))),
        draft("process.exited", { code: 143, reason: "killed: SIGTERM" }, of(3)),
      ]);
      journal = await open();
      expect((await journal.endedMail()).map(({ pid, body }) => [pid, body])).toEqual([[2, { seq: 2 }]]);
      await journal.append([draft("process.recovered", { epoch: 2, resumed: true }, of(2))]);
      expect((await journal.endedMail()).map(({ pid }) => pid)).toEqual([5]);
    });

    test("ofKind() gives all of one kind, in order", async () => {
      await journal.append([draft("grant.add", 1), draft("signal", 0), draft("grant.add", 2)]);
      await journal.append([draft("grant.add", 3, { proc: OTHER }), draft("process.state", 4)]);
      expect((await journal.ofKind(PROC, "grant.add")).map(({ body }) => body)).toEqual([1, 2]);
      expect(await journal.ofKind(PROC, "process.spawned")).toEqual([]);
    });

    test.each(SPARSE_KINDS)("ofKind() finds %s", async (kind) => {
      const body = { code: 0, reason: "" };
      await journal.append([draft("signal", 0), draft(kind, body)]);
      expect(await journal.ofKind(PROC, kind)).toMatchObject([{ kind, body }]);
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
        microUsdUsed: 100_000,
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

    test("rows() gives the tree of a process, and pages of it by falling pid", async () => {
      const spawned = (n: number, ppid: number) => draft("process.spawned", { kind: "agent", ppid }, of(n));
      await journal.append([spawned(1, 0), spawned(2, 1), spawned(3, 2), spawned(4, 0), spawned(5, 1)]);
      await journal.append([2, 3, 4].map((n) => draft("process.exited", { code: 0 }, of(n))));
      const pids = async (filter: RowFilter) => (await journal.rows(filter)).map(({ pid }) => pid);
      expect((await pids({ tree: 1 })).sort()).toEqual([1, 2, 3, 5]);
      expect(await pids({ tree: 1, live: false, before: 9 })).toEqual([3, 2]);
      expect(await pids({ live: false, before: 9, limit: 2 })).toEqual([4, 3]);
      expect(await pids({ live: false, before: 3, limit: 2 })).toEqual([2]);
      expect(await pids({ tree: 7 })).toEqual([]);
    });

    test("rows() finds an agent by its lasting name", async () => {
      const spawned = (pid: number, ppid: number, head: string) =>
        draft(
          "process.spawned",
          { kind: "agent", ppid },
          { pid: asPid(pid), proc: asProcUuid(`${head}-4000-8000-000000000000`) },
        );
      await journal.append([spawned(2, 1, "01234567-89ab"), spawned(3, 2, "01234567-89ac")]);
      const pids = async (filter: RowFilter) => (await journal.rows(filter)).map(({ pid }) => pid);
      expect(await pids({ agent: "agent-0123456789ab" })).toEqual([2]);
      expect(await pids({ agent: "agent-0123456789ac", tree: 2 })).toEqual([3]);
      expect(await pids({ agent: "agent-0123456789ab", tree: 3 })).toEqual([]);
      expect(await pids({ agent: "agent-0123456789ad" })).toEqual([]);
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
  });
}
