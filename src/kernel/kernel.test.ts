import { describe, expect, test } from "vitest";
import { asCallId, asPid, asProcUuid } from "../abi/ids.ts";
import { EXIT } from "../abi/process.ts";
import type { Sys } from "../abi/sys.ts";
import { Account } from "./account/account.ts";
import { brokenDevice } from "./testing/fake-devices.ts";
import { hold } from "./testing/hold.ts";
import { MemoryJournal } from "./testing/memory-journal.ts";
import { NOTHING_LEFT, testKernel } from "./testing/test-kernel.ts";
import { settle } from "./testing/virtual-clock.ts";

describe("shutdown()", () => {
  test("TERM, all reaped, nothing left, no spawn any more", async () => {
    const t = testKernel();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys });
    const zombie = await t.start();
    zombie.end();
    await zombie.proc.done.promise;
    expect([t.kernel.active(), t.kernel.isWorking()]).toEqual([2, true]);
    parent.proc.pause(0);
    child.proc.pause(0);
    expect([t.kernel.active(), t.kernel.isWorking()]).toEqual([2, false]);
    parent.proc.resume(0);
    child.proc.resume(0);
    await t.kernel.shutdown(5_000);
    expect([parent.proc.exit, child.proc.exit]).toEqual([EXIT.sigterm, EXIT.sigterm]);
    expect([parent, child, zombie].map(({ proc }) => proc.state)).toEqual(["dead", "dead", "dead"]);
    expect([t.clock.mono(), t.kernel.active()]).toEqual([0, 0]);
    expect(t.census()).toEqual(NOTHING_LEFT);
    await expect(t.init.spawn("late", null)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(t.journal.kinds().at(-1)).toBe("kernel.shutdown");
  });

  test("KILL after the grace; twice is once", async () => {
    const t = testKernel();
    const { proc } = await t.start({ stubborn: true });
    const down = t.kernel.shutdown(2_000);
    expect(t.kernel.shutdown(0)).toBe(down);
    await t.clock.advance(1_999);
    expect(proc.state).toBe("running");
    await t.clock.advance(1);
    expect(proc.exit?.code).toBe(137);
    await t.clock.advance(5_000);
    await down;
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("ends a spawn under way, and its devices once", async () => {
    const t = testKernel();
    let closed = 0;
    t.kernel.mount("/dev/x", { ...brokenDevice(), close: async () => void closed++ });
    t.model.script.open = () => new Promise(() => {});
    const spawned = expect(t.init.spawn("a", null)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await t.kernel.shutdown(5_000);
    await spawned;
    expect([closed, t.kernel.table.size, t.clock.pending]).toEqual([1, 0, 0]);
  });

  test("ends a process whose spawn is just being journalled", async () => {
    const t = testKernel();
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    const spawned = t.init.spawn("a", null);
    await settle();
    const down = t.kernel.shutdown(5_000);
    await settle();
    gate.resolve();
    await Promise.all([down, spawned]);
    expect(t.census()).toEqual(NOTHING_LEFT);
    expect(t.journal.bodies("process.exited")).toMatchObject([{ code: 143 }]);
  });

  test("ends watched processes and questions too", async () => {
    const t = testKernel();
    const asking = Promise.withResolvers<void>();
    t.programs.set("a", async (sys, { pid }) => {
      const question = { text: "?", detail: "", options: ["yes"] as const };
      const asked = t.kernel.asks.ask(t.proc(pid), question, { signal: sys.ending });
      asking.resolve();
      await asked;
      return EXIT.completed;
    });
    const { events } = await t.kernel.spawnWatched("a", null, { interactive: true });
    await asking.promise;
    await t.kernel.shutdown(5_000);
    const heard = await Array.fromAsync(events);
    expect(heard.map((e) => e.event)).toEqual(["spawn", "ask", "ask_closed", "error", "complete"]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});

describe("the handle of a program", () => {
  test("has no functions of its own, and its calls concern its own process", async () => {
    const t = testKernel();
    const [one, other] = [await t.start(), await t.start()];
    const { setResult } = one.sys;
    expect([Object.keys(one.sys), other.sys.setResult]).toEqual([[], setResult]);
    one.sys.setResult("first");
    other.sys.setResult("second");
    expect([one.proc.result, other.proc.result]).toEqual(["first", "second"]);
    expect([one.sys.ending, other.sys.ending]).toEqual([one.proc.abort.signal, other.proc.abort.signal]);
    await t.kernel.shutdown(5_000);
    expect([one.sys.ending.aborted, other.sys.ending.aborted]).toEqual([true, true]);
  });

  test("that is none of a program has only the system calls", async () => {
    const t = testKernel();
    const { proc } = await t.start();
    const bare = t.kernel.handle(proc, null) as Sys;
    expect(() => bare.setResult("of a tool")).toThrow(TypeError);
    expect(() => bare.checkpoint({})).toThrow(TypeError);
    expect([proc.result, bare.ending, bare.getPid()]).toEqual(["", undefined, proc.pid]);
  });
});

describe("spawnWatched()", () => {
  test("misses nothing, from spawn to complete", async () => {
    const t = testKernel();
    t.programs.set("a", async (sys) => {
      sys.onStep(1);
      sys.log("info", "hello");
      sys.setResult("42");
      return EXIT.completed;
    });
    const { pid, events } = await t.kernel.spawnWatched("a", null, {
      maxTurns: 3,
      model: "m",
      contextBudget: 9,
    });
    const heard = await Array.fromAsync(events);
    expect(heard).toEqual([
      {
        event: "spawn",
        pid,
        intent: "a",
        details: { agent: "", model: "m", maxSteps: 3, budget: 9, device: "/dev/llm/fake" },
      },
      { event: "step", pid, step: 1, total: 3 },
      { event: "log", pid, entry: { timestampMs: 0, level: "info", message: "hello" } },
      { event: "complete", pid, result: "42", exit: EXIT.completed, tokensUsed: 0, elapsedMs: 0 },
    ]);
    events.close();
    await settle();
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("that fails leaves nobody watching", async () => {
    const t = testKernel();
    t.journal.refused.add("process.spawned");
    await expect(t.kernel.spawnWatched("a", null, {})).rejects.toMatchObject({ code: "UNAVAILABLE", pid: 1 });
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});

test("a list of processes says what an agent and all below it have used, ended ones too", async () => {
  const t = testKernel();
  const { pid, proc, end } = await t.start();
  proc.used.add({ tokens: 7, usd: 0 });
  const ended = new Account(proc.seed.account);
  hold(ended, 50)?.settle(20);
  hold(proc.seed.account, 50)?.settle(7);
  const shown = (await t.init.listProcs()).find((each) => each.pid === pid);
  expect([shown?.tokensUsed, shown?.subtree]).toEqual([7, { tokens: 27, microUsd: 0 }]);
  end();
});

describe("waitFor()", () => {
  test("gives what the last line of a run shows, and reaps", async () => {
    const t = testKernel();
    const { pid, proc, end } = await t.start();
    await t.clock.advance(40);
    proc.used.add({ tokens: 7, usd: 0 });
    end();
    const never = new AbortController();
    expect(await t.kernel.waitFor(pid, never.signal)).toEqual({
      exit: EXIT.completed,
      tokensUsed: 7,
      elapsedMs: 40,
    });
    expect(t.census()).toEqual(NOTHING_LEFT);
    // whoever comes later is told by the journal
    expect(await t.kernel.waitFor(pid, never.signal)).toMatchObject({ exit: EXIT.completed, tokensUsed: 7 });
  });

  test("given up leaves the process alone", async () => {
    const t = testKernel();
    const { pid, proc } = await t.start();
    await expect(t.kernel.waitFor(pid, AbortSignal.abort())).rejects.toThrow();
    expect(proc.state).toBe("running");
    await expect(t.kernel.waitFor(asPid(9), AbortSignal.abort())).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("ended()", () => {
  test("gives what the journal knows of processes that left the table, in pages and by tree", async () => {
    const t = testKernel();
    const top = await t.start();
    const child = { call: "toolu_1", title: "find it", name: "scout" };
    const children = [await t.start({ by: top.sys, child }), await t.start({ by: top.sys })];
    const other = await t.start();
    children[0]?.proc.used.add({ tokens: 7, usd: 0.5 });
    for (const { pid, end } of children) {
      end();
      await top.sys.wait(pid);
    }
    other.end();
    const all = { before: Number.MAX_SAFE_INTEGER, limit: 10 };
    await t.init.wait(other.pid);
    const pids = async (page: Parameters<typeof t.kernel.ended>[0]) => {
      const { processes, next } = await t.kernel.ended(page);
      return [processes.map(({ pid }) => pid), next];
    };
    const [one, two] = children.map(({ pid }) => pid);
    expect(await pids(all)).toEqual([[other.pid, two, one], undefined]);
    expect(await pids({ ...all, limit: 2 })).toEqual([[other.pid, two], two]);
    expect(await pids({ ...all, limit: 2, before: two ?? 0 })).toEqual([[one], undefined]);
    expect(await pids({ ...all, tree: top.pid })).toEqual([[two, one], undefined]);
    const [, ended] = (await t.kernel.ended({ ...all, tree: top.pid })).processes;
    expect(ended).toMatchObject({
      ppid: top.pid,
      state: "dead",
      exit: EXIT.completed,
      tokensUsed: 7,
      microUsdUsed: 500_000,
      child: { ...child, agentId: expect.stringMatching(/^agent-/) },
    });
    // a zombie is still in the table
    top.end();
    await top.proc.done.promise;
    expect((await pids(all))[0]).toEqual([other.pid, two, one]);
    await t.init.wait(top.pid);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});

describe("recover()", () => {
  test("records what the last daemon left: processes lost, calls unknown; once", async () => {
    const journal = new MemoryJournal();
    const proc = (n: number) => ({ proc: asProcUuid(`p${n}`), pid: asPid(n), v: 1 });
    const [a, b] = [asCallId("c_a"), asCallId("c_b")];
    await journal.append([
      { ...proc(1), kind: "process.spawned", body: {} },
      { ...proc(2), kind: "process.spawned", body: {} },
      { ...proc(1), kind: "process.exited", body: {} },
      { ...proc(2), kind: "call.intent", call: a, body: {} },
      { ...proc(2), kind: "call.intent", call: b, body: {} },
      { ...proc(2), kind: "call.result", call: a, body: {} },
    ]);
    const before = journal.records.length;
    const t = testKernel({}, journal);
    expect(await t.kernel.recover()).toEqual({ lost: [2], restored: [], resting: [] });
    expect(journal.records.slice(before)).toMatchObject([
      { pid: 0, kind: "kernel.boot", body: { epoch: 1, clean: false } },
      { pid: 2, kind: "call.unknown", call: b },
      { pid: 2, kind: "process.exited", body: { code: 137, reason: "lost", kind: "killed" } },
    ]);
    expect(await t.kernel.recover()).toEqual({ lost: [], restored: [], resting: [] });
    expect(journal.bodies("kernel.boot").at(-1)).toEqual({ epoch: 1, clean: true });
    expect(await t.init.spawn("next", null)).toBe(3);
  });
});
