/** Processes that are not in memory, and go on. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asFd, asPid, asProcUuid, type Pid } from "../../abi/ids.ts";
import { EXIT, type ExitStatus, PERMISSION_MODES, SIGNALS } from "../../abi/process.ts";
import type { Begun, Program } from "../../abi/program.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { MemoryJournal } from "../../kernel/testing/memory-journal.ts";
import {
  agentFile,
  bytes,
  NOTHING_LEFT,
  type TestKernel,
  testKernel,
  text,
} from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { resume, wake } from "./wake.ts";

let generation = 0;

/** A daemon whose programs work until they are told to end. */
function daemonOn(
  journal: MemoryJournal,
  more: Partial<KernelPorts> = {},
): { t: TestKernel; begun: Map<Pid, Begun>; completed: Map<Pid, () => void> } {
  generation++;
  let named = 0;
  const name = () => `${generation}`.padStart(4, "0") + `${++named}`.padStart(12, "0");
  const begun = new Map<Pid, Begun>();
  const completed = new Map<Pid, () => void>();
  const program: Program = (sys, start) => {
    begun.set(start.pid, { sys, start });
    return new Promise<ExitStatus>((resolve) => {
      completed.set(start.pid, () => resolve(EXIT.completed));
      sys.ending.addEventListener("abort", () => resolve(EXIT.unexpected));
    });
  };
  const t = testKernel(
    { nonce: name, uuid: () => asProcUuid(`00000000-${name()}`), program, ...more },
    journal,
  );
  return { t, begun, completed };
}

async function restarted({ journal }: Pick<TestKernel, "journal">) {
  await journal.sync();
  const next = daemonOn(journal);
  const recovery = await next.t.kernel.recover();
  await settle(8);
  return { ...next, recovery };
}

describe("a session that rests", () => {
  test("comes back when it is opened: same pid and name, context, mail, groups, place", async () => {
    const t = testKernel();
    const { pid, proc, sys, start } = await t.start({ session: true, group: "team", env: { KEY: "old" } });
    await sys.appendMessage(start.ctxId, "assistant", "said");
    sys.checkpoint({ turn: 1 });
    await t.init.send(pid, bytes("hello"));
    const joined = [...t.kernel.groups.of(proc)];
    const { t: next, begun, recovery } = await restarted(t);
    expect([recovery.resting.length, next.kernel.table.size]).toEqual([1, 0]);
    const back = await wake(next.kernel, pid, { env: { KEY: "new" } });
    await settle();
    expect([back.pid, back.seed.uuid, back.seed.env.KEY]).toEqual([pid, proc.seed.uuid, "new"]);
    expect([...next.kernel.groups.of(back)]).toEqual(joined);
    const mine = begun.get(pid)!;
    expect(mine.start.restored).toEqual({ state: { turn: 1 }, since: [] });
    expect((await mine.sys.buildPrompt(mine.start.ctxId)).messages).toHaveLength(2);
    expect(text((await mine.sys.recv()).data)).toBe("hello");
    expect(t.journal.bodies("process.recovered")).toEqual([{ epoch: 1, resumed: true }]);
    expect(await wake(next.kernel, pid)).toBe(back);
    await next.init.kill(pid, SIGNALS.SIGTERM);
    await next.init.wait(pid);
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("is listed by its pid, whatever came before it came back", async () => {
    const t = testKernel();
    const [one, two] = [await t.start({ session: true }), await t.start({ session: true })];
    const pids = [one.pid, two.pid];
    const { t: next } = await restarted(t);
    for (const pid of pids.toReversed()) await wake(next.kernel, pid);
    await settle();
    expect((await next.init.listProcs()).map(({ pid }) => pid)).toEqual(pids);
    for (const pid of pids) {
      await next.init.kill(pid, SIGNALS.SIGTERM);
      await next.init.wait(pid);
    }
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("that lacks its model goes on with whoever opens it with what it lacks; what a person paused stays so", async () => {
    const t = testKernel();
    const { pid } = await t.start({ session: true, env: { KEY: "good" } });
    const { t: next, begun } = await restarted(t);
    next.model.script.open = async ({ env }) => {
      if (env.KEY !== "good") throw new Error("no key");
    };
    const doing = async (): Promise<unknown> => {
      await settle();
      return [next.kernel.info(next.proc(pid)).activity === "paused", begun.has(pid)];
    };
    await next.kernel.sessions.awake(pid, { env: { KEY: "bad" } });
    expect(await doing()).toEqual([true, false]);
    await next.kernel.sessions.awake(pid, { env: { KEY: "worse" } });
    expect(await doing()).toEqual([true, false]);
    await next.kernel.sessions.awake(pid, { env: { KEY: "good" } });
    expect(await doing()).toEqual([false, true]);
    await next.init.kill(pid, SIGNALS.SIGPAUSE);
    await next.kernel.sessions.awake(pid, { env: { KEY: "good" } });
    expect(await doing()).toEqual([true, true]);
    await next.init.kill(pid, SIGNALS.SIGTERM);
    await next.init.wait(pid);
    // when its time to rest would have come, nobody is left to look for
    await next.clock.advance(LIMITS.sessionRestMs);
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("brings what is below it, with the limit they share", async () => {
    const t = testKernel();
    const session = await t.start({ session: true, contextBudget: 900 });
    const child = await t.start({ by: session.sys, onParentExit: "terminate" });
    const { t: next, begun } = await restarted(t);
    const back = await wake(next.kernel, session.pid);
    await settle();
    expect(new Set(begun.keys())).toEqual(new Set([session.pid, child.pid]));
    const below = next.proc(child.pid);
    expect([below.ppid, next.kernel.table.childrenOf(back.pid)]).toEqual([session.pid, [below]]);
    expect(below.seed.account.limited()).toEqual([back.seed.account]);
    expect(below.seed.session).toBe(back.seed.session);
  });

  test("has its children in the table when its program begins: a call that waits for one finds it", async () => {
    const t = testKernel();
    const session = await t.start({ session: true });
    const child = await t.start({ by: session.sys, onParentExit: "terminate" });
    const below = await t.start({ by: child.sys, onParentExit: "terminate" });
    await t.journal.sync();
    const asked = new Map<Pid, Promise<unknown>>();
    const wanted = new Map([[session.pid, child.pid] as const, [child.pid, below.pid] as const]);
    const program: Program = (sys, { pid }) => {
      asked.set(
        pid,
        sys.ended(wanted.get(pid) ?? pid).catch((error: unknown) => error),
      );
      return new Promise((resolve) => sys.ending.addEventListener("abort", () => resolve(EXIT.unexpected)));
    };
    const { t: next } = daemonOn(t.journal, { program });
    await next.kernel.recover();
    await wake(next.kernel, session.pid);
    await settle();
    expect([await asked.get(session.pid), await asked.get(child.pid)]).toEqual([null, null]);
  });

  test("is woken once, however many ask at once", async () => {
    const t = testKernel();
    const { pid } = await t.start({ session: true });
    const { t: next } = await restarted(t);
    const all = await Promise.all(Array.from({ length: 10 }, () => wake(next.kernel, pid)));
    expect(new Set(all).size).toBe(1);
    expect(t.journal.bodies("process.recovered")).toHaveLength(1);
  });

  test("comes back paused if it was, or is to be; and durably goes on", async () => {
    const t = testKernel();
    const [was, is] = [await t.start({ session: true }), await t.start({ session: true })];
    await t.init.kill(was.pid, SIGNALS.SIGPAUSE);
    const { t: next, begun } = await restarted(t);
    await wake(next.kernel, was.pid);
    await wake(next.kernel, is.pid, { paused: true });
    await settle();
    expect(begun.size).toBe(0);
    const again = await restarted(next);
    await wake(again.t.kernel, is.pid);
    await wake(again.t.kernel, was.pid, { paused: false });
    await settle();
    expect([...again.begun.keys()]).toEqual([was.pid]);
  });
});

describe("an agent that has ended", () => {
  async function ended(opts: Parameters<TestKernel["start"]>[0] = {}) {
    const t = testKernel();
    const started = await t.start(opts);
    await started.sys.appendMessage(started.start.ctxId, "assistant", "done");
    started.end();
    await t.init.wait(started.pid);
    return { t, ...started };
  }

  test("goes on as a session, and is one from then on", async () => {
    const { t, pid } = await ended();
    const { t: next, begun, recovery } = await restarted(t);
    expect(recovery).toEqual({ lost: [], restored: [], resting: [] });
    const back = await wake(next.kernel, pid, { session: true });
    await settle();
    expect([back.seed.isSession, back.result, begun.get(pid)?.start.session !== null]).toEqual([
      true,
      "done",
      true,
    ]);
    const later = await restarted(next);
    expect(later.recovery.resting).toMatchObject([{ pid }]);
    expect((await wake(later.t.kernel, pid)).seed.isSession).toBe(true);
  });

  test("goes on in the daemon in which it ended, too; its account has what it spent", async () => {
    const { t, pid, proc } = await ended({ contextBudget: 300 });
    const [before] = [proc.seed.account.view()];
    const back = await wake(t.kernel, pid, { paused: true });
    expect(back).not.toBe(proc);
    expect(back.seed.account.view()).toEqual(before);
    expect(t.journal.kinds(pid).filter((kind) => kind === "process.spawned")).toHaveLength(1);
  });

  test("that nobody has read the end of yet leaves the table first", async () => {
    const t = testKernel();
    const { pid, end, proc } = await t.start();
    end();
    await proc.done.promise;
    const back = await wake(t.kernel, pid, { paused: true });
    expect([back.isLive, t.proc(pid)]).toEqual([true, back]);
  });

  test("takes back what it had started, no higher than it, but for what the user gave", async () => {
    const { t, begun } = daemonOn(testKernel().journal);
    const parent = await t.init.spawn("lead", null);
    await settle();
    const { sys } = begun.get(parent)!;
    const pids = [await sys.spawn("dig", null), await sys.spawn("fill", null)] as const;
    const by = { principal: "user", client: "test", uid: 1 };
    await t.kernel.rights.mode(parent, { mode: "plan", by });
    await t.init.kill(parent, SIGNALS.SIGTERM);
    await t.init.wait(parent);
    await t.kernel.rights.mode(pids[0], { mode: "default", by });
    await t.kernel.rights.mode(pids[1], { mode: "accept_edits", by });
    const now = (of: TestKernel) => pids.map((pid) => of.proc(pid)).map(({ ppid, mode }) => [ppid, mode]);
    expect(now(t)).toEqual([
      [0, "default"],
      [0, "accept_edits"],
    ]);
    await resume(t.kernel, parent);
    const back = [
      [parent, "plan"],
      [parent, "accept_edits"],
    ];
    expect(now(t)).toEqual(back);
    const { t: next } = await restarted(t);
    for (const pid of pids) await next.proc(pid).past.recall();
    expect(now(next)).toEqual(back);
  });

  test("has no more rights than it had (property)", async () => {
    const anyOpts = fc.record({
      permissionMode: fc.constantFrom(...PERMISSION_MODES),
      cwd: fc.constantFrom("/desk", "/desk/a"),
      allowedDevices: fc.option(fc.subarray(["/dev/fs", "/bin/bash", "/dev/shell"])),
      contextBudget: fc.nat(1_000),
    });
    await fc.assert(
      fc.asyncProperty(anyOpts, async ({ allowedDevices, ...opts }) => {
        const { t, pid, proc } = await ended({ ...opts, agent: agentFile({ allowedDevices }) });
        const { t: next } = await restarted(t);
        const { seed } = await wake(next.kernel, pid, { paused: true });
        const { mode, roots, rights, cwd, maxSteps } = proc.seed;
        expect(seed).toMatchObject({ mode, roots, rights, cwd, maxSteps });
        expect(seed.account.remaining()).toBe(proc.seed.account.remaining());
      }),
      { numRuns: 30 },
    );
  });
});

describe("a limit whose owner is gone", () => {
  test("is read again where the last who drew on it leaves memory meanwhile: nothing spent is forgotten", async () => {
    const t = testKernel();
    const parent = await t.start({ contextBudget: 900 });
    const [spender, sleeper] = [await t.start({ by: parent.sys }), await t.start({ by: parent.sys })];
    for (const { pid, end } of [sleeper, parent]) {
      end();
      await t.proc(pid).done.promise;
      if (pid === sleeper.pid) await parent.sys.reap(pid);
      else await t.init.wait(pid);
    }
    t.model.script.plan = { reserve: { tokens: 200, usd: null } };
    t.model.script.charge = () => ({ tokens: 150, usd: null });
    const row = t.journal.row.bind(t.journal);
    let isSpent = false;
    t.journal.row = async (proc) => {
      const known = await row(proc);
      if (proc !== parent.proc.seed.uuid || isSpent) return known;
      isSpent = true;
      await spender.sys.write(asFd(3), bytes("ask"));
      spender.end();
      await t.init.wait(spender.pid);
      return known;
    };
    const back = await wake(t.kernel, sleeper.pid, { session: true, paused: true });
    const [limit] = back.seed.account.limited();
    expect(isSpent).toBe(true);
    expect(limit?.view()).toEqual({ limit: 900, used: 150, reserved: 0 });
  });

  test("is the one account while a call of a process that was killed is under way", async () => {
    const t = testKernel();
    const { pid, sys, proc } = await t.start({ contextBudget: 900 });
    const over = Promise.withResolvers<void>();
    t.model.script.plan = { reserve: { tokens: 200, usd: null } };
    t.model.script.charge = () => ({ tokens: 150, usd: null });
    t.model.script.act = () => over.promise;
    sys.write(asFd(3), bytes("ask")).catch(() => {});
    await settle();
    await t.init.kill(pid, SIGNALS.SIGKILL);
    await proc.done.promise;
    const back = await wake(t.kernel, pid, { paused: true });
    expect(back.seed.account.view()).toEqual({ limit: 900, used: 0, reserved: 200 });
    over.resolve();
    await settle();
    expect(back.seed.account.view()).toEqual({ limit: 900, used: 150, reserved: 0 });
  });
});

describe("wake() refuses", () => {
  test("a pid that never was: NOT_FOUND", async () => {
    const t = testKernel();
    await expect(wake(t.kernel, asPid(9))).rejects.toMatchObject({
      code: "NOT_FOUND",
      fact: { kind: "no_history", pid: 9 },
    });
  });

  test("a damaged one, known or not: CONFLICT, as damaged; nothing of it is left", async () => {
    const t = testKernel();
    const { pid, proc } = await t.start({ session: true });
    const { t: next } = await restarted(t);
    const read = t.journal.read.bind(t.journal);
    t.journal.read = () => Promise.reject(new Error("record 2 is damaged"));
    const refused = { code: "CONFLICT", fact: { kind: "damaged", pid } };
    await expect(wake(next.kernel, pid)).rejects.toMatchObject(refused);
    t.journal.read = read;
    t.journal.damaged.set(proc.seed.uuid, 2);
    await expect(wake(next.kernel, pid)).rejects.toMatchObject(refused);
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("what is no agent: CONFLICT", async () => {
    const t = testKernel();
    const pid = await t.init.spawn("", null, { command: ["true"] });
    const { t: next } = await restarted(t);
    await expect(wake(next.kernel, pid)).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("a disk that refuses, and a kernel that stops: UNAVAILABLE; nothing of it is in memory, the next try may do", async () => {
    const t = testKernel();
    const { pid } = await t.start({ session: true });
    const { t: next } = await restarted(t);
    t.journal.refused.add("process.recovered");
    await expect(wake(next.kernel, pid)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    // it goes on resting: its outputs and its folder are what it comes back to
    expect(next.census()).toEqual({ ...NOTHING_LEFT, scratch: 1 });
    t.journal.refused.clear();
    await wake(next.kernel, pid);
    await next.kernel.shutdown(0);
    await expect(wake(next.kernel, asPid(1_000))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("one that had ended has nothing left on disk, either", async () => {
    const t = testKernel();
    const { pid, end } = await t.start();
    end();
    await t.init.wait(pid);
    const { t: next } = await restarted(t);
    t.journal.refused.add("process.recovered");
    await expect(wake(next.kernel, pid)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("a zombie whose parent has not heard of it: CONFLICT", async () => {
    const t = testKernel();
    const parent = await t.start();
    const { pid, end, proc } = await t.start({ by: parent.sys });
    end();
    await proc.done.promise;
    await expect(wake(t.kernel, pid)).rejects.toMatchObject({ code: "CONFLICT" });
  });
});

describe("resume()", () => {
  test("lets a paused one go on, with the environment it is lent; durably", async () => {
    const t = testKernel();
    const { pid } = await t.start();
    await t.init.kill(pid, SIGNALS.SIGPAUSE);
    const { t: next, begun } = await restarted(t);
    const back = await resume(next.kernel, pid, { KEY: "lent" });
    expect([back.isPaused, t.journal.bodies("signal").at(-1)]).toMatchObject([
      false,
      { signal: 5, paused: false },
    ]);
    await settle(8);
    expect(begun.get(pid)).toBeDefined();
    expect(back.seed.env.KEY).toBe("lent");
  });

  test("makes one that had completed wait for a message; one that was cut short goes on as it was", async () => {
    const t = testKernel();
    const [completed, cut] = [await t.start(), await t.start()];
    completed.end();
    cut.end(EXIT.maxSteps);
    for (const { pid } of [completed, cut]) await t.init.wait(pid);
    const { t: next } = await restarted(t);
    expect((await resume(next.kernel, completed.pid)).seed.isSession).toBe(true);
    expect((await resume(next.kernel, cut.pid)).seed.isSession).toBeUndefined();
  });
});

describe("an agent below another that has ended, and is sent a message", () => {
  /** A parent whose child, started by a call, was ended. */
  async function family() {
    const room = { children: 9 };
    const { t, begun, completed } = daemonOn(testKernel().journal, {
      budget: () => ({ defaults: {}, windows: [], agents: room }),
    });
    const started = async () => {
      const pid = await t.init.spawn("lead", null);
      await settle();
      return { pid, sys: begun.get(pid)!.sys };
    };
    const parent = await started();
    const mark = { child: { call: "c1", title: "dig" }, onParentExit: "terminate" } as const;
    const pid = await parent.sys.spawn("dig", null, mark);
    await parent.sys.kill(pid, SIGNALS.SIGTERM);
    await parent.sys.wait(pid);
    return { t, begun, completed, room, started, parent, pid, uuid: (await t.journal.processOf(pid))! };
  }
  const said = (t: TestKernel, uuid: string) =>
    t.journal.records.filter(({ proc }) => proc === uuid).map(({ kind }) => kind);

  test("comes back with it, below its parent, in one group of records; its end is told", async () => {
    const { t, begun, parent, pid, uuid } = await family();
    const groups: string[][] = [];
    const { append } = t.journal;
    t.journal.append = async (drafts, ...more) => {
      groups.push(drafts.filter(({ proc }) => proc === uuid).map(({ kind }) => kind));
      return append.call(t.journal, drafts, ...more);
    };
    const sent = await parent.sys.send(pid, bytes("go on"));
    expect(groups).toContainEqual(["process.recovered", "child.detached", "mail.put"]);
    await settle();
    expect(t.proc(pid)).toMatchObject({ ppid: parent.pid, isLive: true });
    const { data, from, seq } = await begun.get(pid)!.sys.recv();
    expect([text(data), from, seq]).toEqual(["go on", parent.pid, sent.seq]);
    await parent.sys.kill(pid, SIGNALS.SIGTERM);
    expect(await parent.sys.recv()).toMatchObject({ from: pid, notice: pid });
  });

  test("takes both messages of two senders at once, and each once", async () => {
    const { t, begun, parent, pid } = await family();
    await Promise.all([parent.sys.send(pid, bytes("one")), parent.sys.send(pid, bytes("two"))]);
    await settle();
    const { sys } = begun.get(pid)!;
    expect([text((await sys.recv()).data), text((await sys.recv()).data)].sort()).toEqual(["one", "two"]);
    expect(t.journal.bodies("process.recovered")).toHaveLength(1);
  });

  test("at any moment around its end comes back with it, and reads it once", async () => {
    const ways = new Set<string>();
    const at = async (isSentFirst: boolean, steps: number): Promise<void> => {
      const { t, begun, completed, parent } = await family();
      const mark = { child: { call: "c2", title: "dig" }, onParentExit: "terminate" } as const;
      const pid = await parent.sys.spawn("dig", null, mark);
      await settle();
      const [first, turns] = [
        begun.get(pid)!,
        async () => {
          for (let step = 0; step < steps; step++) await Promise.resolve();
        },
      ];
      const send = () => parent.sys.send(pid, bytes("go on")).then(() => true);
      const sent = isSentFirst ? send() : undefined;
      if (isSentFirst) await turns();
      completed.get(pid)!();
      if (!isSentFirst) await turns();
      expect(await (sent ?? send())).toBe(true);
      await settle(20);
      const again = begun.get(pid)!;
      expect([again === first, t.proc(pid).isLive]).toEqual([false, true]);
      expect(text((await again.sys.recv()).data)).toBe("go on");
      await expect(again.sys.recv({ timeoutMs: 0 })).rejects.toMatchObject({ code: "TIMEOUT" });
      const uuid = (await t.journal.processOf(pid))!;
      const own = said(t, uuid);
      ways.add(own.indexOf("mail.put") < own.indexOf("process.exited") ? "before" : "after");
      await parent.sys.kill(pid, SIGNALS.SIGTERM);
      expect(await parent.sys.recv()).toMatchObject({ from: pid, notice: pid });
    };
    await fc.assert(fc.asyncProperty(fc.boolean(), fc.nat(40), at), { numRuns: 150, seed: 1 });
    expect([...ways].sort()).toEqual(["after", "before"]);
  });

  test("stays ended where the journal refuses, and reads it in the next daemon where it took it", async () => {
    const { t, parent, pid, uuid } = await family();
    const { append } = t.journal;
    t.journal.append = async () => {
      throw new Error("no room");
    };
    await expect(parent.sys.send(pid, bytes("lost"))).rejects.toThrow();
    t.journal.append = append;
    expect([said(t, uuid).at(-1), t.kernel.table.get(pid)]).toEqual(["process.exited", undefined]);
    await parent.sys.send(pid, bytes("kept"));
    const next = await restarted(t);
    await settle();
    const { sys } = next.begun.get(pid)!;
    expect(text((await sys.recv()).data)).toBe("kept");
    await expect(sys.recv({ timeoutMs: 0 })).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("before its exit reads it in the next daemon where this one is killed before it is back, and once", async () => {
    const { t, begun, completed, parent } = await family();
    const mark = { child: { call: "c2", title: "dig" }, onParentExit: "terminate" } as const;
    const [pid, other] = [
      await parent.sys.spawn("dig", null, mark),
      await parent.sys.spawn("dig", null, mark),
    ];
    await settle();
    // it takes its message, of which there is no record until it ends
    await parent.sys.send(other, bytes("read"));
    expect(text((await begun.get(other)!.sys.recv()).data)).toBe("read");
    completed.get(other)!();
    await settle(20);
    await parent.sys.send(pid, bytes("go on"));
    completed.get(pid)!();
    await settle(20);
    const { records } = t.journal;
    const [exited, back] = ["process.exited", "process.recovered"].map((kind) =>
      records.findIndex((record) => record.pid === pid && record.kind === kind),
    ) as [number, number];
    expect(exited).toBeLessThan(back);
    for (let cut = exited + 1; cut <= back; cut++) {
      const journal = new MemoryJournal();
      await journal.append(records.slice(0, cut));
      // one that was recorded after the exit was refused to its sender
      const gone = { proc: (await journal.processOf(other))!, pid: other };
      await journal.append([{ ...gone, kind: "mail.put", v: 1, body: { seq: 99, data: "" } }]);
      journal.refused.add("kernel.boot");
      await expect(daemonOn(journal).t.kernel.recover()).rejects.toThrow("the disk is full");
      journal.refused.clear();
      const next = await restarted({ journal });
      expect(next.t.proc(pid)).toMatchObject({ ppid: parent.pid, isLive: true });
      // one whose history was being read is read again a while later
      await next.t.clock.advance(LIMITS.putOffMs);
      await settle(8);
      const { sys, start } = next.begun.get(pid)!;
      expect(text((await sys.recv()).data)).toBe("go on");
      await sys.appendMessage(start.ctxId, "user", "go on");
      await expect(sys.recv({ timeoutMs: 0 })).rejects.toMatchObject({ code: "TIMEOUT" });
      next.completed.get(pid)!();
      expect(await next.begun.get(parent.pid)!.sys.recv()).toMatchObject({ from: pid, notice: pid });
      const resumed = journal.bodies("process.recovered").filter((body) => body.resumed === true);
      expect([resumed.length, next.begun.has(other)]).toEqual([1, false]);
      const last = await restarted({ journal });
      expect([...last.begun.keys()]).toEqual([parent.pid]);
    }
  });

  test("is not found by a stranger, nor where the one that started it has ended", async () => {
    const { t, started, parent, pid } = await family();
    const stranger = await started();
    await expect(stranger.sys.send(pid, bytes("x"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await t.init.kill(parent.pid, SIGNALS.SIGTERM);
    await t.init.wait(parent.pid);
    const above = await started();
    await expect(above.sys.send(pid, bytes("x"))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("waits for its turn where as many run as may, like a new agent", async () => {
    const { t, room, begun, parent, pid } = await family();
    room.children = 0;
    begun.delete(pid);
    await parent.sys.send(pid, bytes("go on"));
    await settle();
    expect([t.kernel.info(t.proc(pid)).queue, begun.has(pid)]).toEqual([{ place: 1, of: 1 }, false]);
    room.children = 1;
    t.kernel.admission.check();
    await settle();
    expect(text((await begun.get(pid)!.sys.recv()).data)).toBe("go on");
  });
});
