/** A program of the host that starts agents in its own name. */
import { expect, test } from "vitest";
import { codeOf } from "../../abi/errors.ts";
import { asFd, type Pid } from "../../abi/ids.ts";
import { EXIT, type ExitStatus, SIGNALS } from "../../abi/process.ts";
import type { Sys } from "../../abi/sys.ts";
import { LIMITS } from "../limits.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { childClient } from "../process/child-client.ts";
import { FakePrograms } from "../testing/fake-programs.ts";
import { bytes, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

async function program(budget: object = {}, ports: Partial<KernelPorts> = {}) {
  const exec = new FakePrograms();
  const t = testKernel({ exec, ...ports });
  const pid = await t.init.spawn("", null, { command: ["bomb"], budget });
  const proc = t.proc(pid);
  const sys = childClient(t.kernel, proc.seed.uuid)?.sys;
  if (sys == null) throw new Error("it has no hands");
  t.programs.set(
    "a",
    ({ ending }) => new Promise<never>((_done, failed) => ending.addEventListener("abort", failed)),
  );
  return { t, pid, proc, spawn: () => sys.spawn("a", null, {}) };
}

test("has no more agents at once than an agent has: the next ones wait in order, and their number is bounded", async () => {
  const budget = () => ({ defaults: {}, windows: [], agents: { queue: 3, perMinute: 100 } });
  const { t, spawn } = await program({}, { budget });
  const running = [];
  for (let i = 0; i < LIMITS.agentChildren; i++) running.push(await spawn());
  const waiting = [await spawn(), await spawn(), await spawn()];
  const shown = () =>
    waiting.map((pid) => t.kernel.info(t.proc(pid))).map(({ state, queue }) => queue ?? state);
  expect(shown()).toEqual([1, 2, 3].map((place) => ({ place, of: 3 })));
  await expect(spawn()).rejects.toMatchObject({
    code: "BUDGET",
    message: expect.stringContaining("wait until some of them have ended"),
    details: { unit: "queue", limit: 3, retryable: false, raise: "agents.limits.queue in settings.json" },
  });
  // one that is stopped while it waits leaves the queue; an end lets the next one begin
  await t.init.kill(waiting[1] as Pid, SIGNALS.SIGTERM);
  await t.init.kill(running[0] as Pid, SIGNALS.SIGKILL);
  await settle(20);
  expect(t.proc(waiting[1] as Pid).exit).toMatchObject({ reason: "killed: SIGTERM" });
  expect(t.kernel.info(t.proc(waiting[0] as Pid)).state).toBe("running");
  expect(t.kernel.info(t.proc(waiting[2] as Pid)).queue).toEqual({ place: 1, of: 1 });
  await t.kernel.abandon("over");
});

test("agents of a tree beyond those of a minute wait for the next one", async () => {
  const budget = () => ({ defaults: {}, windows: [], agents: { perMinute: 2 } });
  const { t, spawn } = await program({}, { budget });
  const pids = [await spawn(), await spawn(), await spawn()];
  const states = () => pids.map((pid) => t.kernel.info(t.proc(pid)).state);
  expect(states()).toEqual(["running", "running", "created"]);
  await t.clock.advance(60_000);
  expect(states()).toEqual(["running", "running", "running"]);
  await t.kernel.abandon("over");
});

test("agents that leave the queue together take their turns only then, as those do that were never in it", async () => {
  const budget = () => ({ defaults: {}, windows: [], agents: { perMinute: 2 } });
  let turns = 0;
  const next = async () => void turns++;
  const { t, spawn } = await program({}, { budget, starts: { next, hold: () => () => {} } });
  for (let n = 0; n < 4; n++) await spawn();
  await settle();
  expect(turns).toBe(2);
  await t.clock.advance(60_000);
  expect(turns).toBe(4);
  await t.kernel.abandon("over");
});

test("agents that wait for others hold no place, so a tree whose places are all taken goes on", async () => {
  const budget = () => ({ defaults: { concurrent: 2 }, windows: [] });
  const t = testKernel({ budget });
  const exits: string[] = [];
  const both = async (sys: Sys, intent: string): Promise<ExitStatus> => {
    const pids = [await sys.spawn(intent, null, {}), await sys.spawn(intent, null, {})];
    await Promise.all(pids.map((pid) => sys.wait(pid)));
    exits.push(intent);
    return EXIT.completed;
  };
  t.programs.set("top", (sys) => both(sys, "middle"));
  t.programs.set("middle", (sys) => both(sys, "leaf"));
  const pid = await t.init.spawn("top", null, {});
  await settle(200);
  expect(exits).toEqual(["leaf", "leaf", "middle"]);
  expect(t.proc(pid).exit).toMatchObject({ code: 0 });
  await t.kernel.abandon("over");
});

test("of 300 agents that one starts 64 run at once, the others begin in order, and all finish", async () => {
  const agents = { children: 300, perMinute: 300 };
  const t = testKernel({ budget: () => ({ defaults: {}, windows: [], agents }) });
  const gates = new Map<Pid, () => void>();
  const begun: Pid[] = [];
  let most = 0;
  t.programs.set("work", (sys) => {
    const pid = sys.getPid();
    begun.push(pid);
    return new Promise((resolve) => {
      gates.set(pid, () => resolve(gates.delete(pid) ? EXIT.completed : EXIT.unexpected));
      most = Math.max(most, gates.size);
    });
  });
  const { sys } = await t.start();
  const pids: Pid[] = [];
  for (let n = 0; n < 300; n++) pids.push(await sys.spawn("work", null));
  await settle(20);
  expect([begun.length, t.kernel.info(t.proc(pids[64]!)).queue]).toEqual([64, { place: 1, of: 236 }]);
  // the newest ends first, so that their order is that of the queue and not of the ends
  while (gates.size > 0) {
    [...gates.values()].at(-1)?.();
    await settle(20);
  }
  expect([most, begun]).toEqual([64, pids]);
  for (const pid of pids) expect(await sys.wait(pid)).toMatchObject(EXIT.completed);
  await t.kernel.abandon("over");
});

test("has no more in all than its limit says, whether they ended or not", async () => {
  const { t, proc, spawn } = await program({ children: 3 });
  for (let i = 0; i < 3; i++) await t.init.kill(await spawn(), 2);
  await expect(spawn()).rejects.toMatchObject({
    code: "BUDGET",
    details: { unit: "children", limit: 3, used: 3 },
  });
  expect(proc.seed.account.children).toBe(3);
  await t.kernel.abandon("over");
});

test("of a tree no more are started in 24 hours than the settings say, also over a restart; the next day more are", async () => {
  const budget = () => ({ defaults: {}, windows: [], agents: { perDay: 3 } });
  const t = testKernel({ budget });
  const { pid, sys } = await t.start();
  for (let n = 0; n < 3; n++) await sys.wait(await sys.spawn("ends at once", null));
  const refusal = { code: "BUDGET", details: { unit: "children", limit: 3, used: 3, retryable: false } };
  await expect(sys.spawn("one more", null)).rejects.toMatchObject({
    ...refusal,
    message: expect.stringContaining("agents started below within 24 hours: limit 3, used 3"),
  });
  await t.init.kill(pid, SIGNALS.SIGPAUSE);
  await t.journal.sync();
  t.journal.crash();
  const next = testKernel({ budget }, t.journal);
  await next.kernel.recover();
  expect(next.proc(pid).seed.account.started.spent(next.clock.now())).toBe(3);
  const again = Promise.withResolvers<Sys>();
  next.programs.set(next.proc(pid).seed.intent, (own) => {
    again.resolve(own);
    return new Promise((resolve) => own.ending.addEventListener("abort", () => resolve(EXIT.unexpected)));
  });
  await next.init.kill(pid, SIGNALS.SIGRESUME);
  const own = await again.promise;
  await expect(own.spawn("one more", null)).rejects.toMatchObject(refusal);
  await next.clock.advance(25 * 3_600_000);
  await own.wait(await own.spawn("one more", null));
  expect(next.proc(pid).seed.account.children).toBe(4);
  await next.kernel.abandon("over");
});

test("a model that gives one agent the same task again and again is stopped; other tasks and later ones are not", async () => {
  const t = testKernel({ budget: () => ({ defaults: {}, windows: [], agents: { sameTask: 3 } }) });
  const { sys } = await t.start();
  const start = async (intent: string) =>
    sys.wait(await sys.spawn(intent, null, { child: { call: "c", title: "t" } }));
  for (let n = 0; n < 3; n++) await start("look again");
  await expect(start("look again")).rejects.toMatchObject({
    code: "BUDGET",
    message: expect.stringMatching(/the same task .*: limit 3, used 3; read what it said/),
    details: { unit: "same", retryable: false, raise: "agents.limits.sameTask in settings.json" },
  });
  await start("look elsewhere");
  await t.clock.advance(600_000);
  await start("look again");
  await t.kernel.abandon("over");
});

test("20 children race for a budget that pays five calls: five are paid, and their parent can still report", async () => {
  const t = testKernel({
    budget: () => ({ defaults: {}, windows: [], onLimit: "fail", agents: { children: 32, perMinute: 100 } }),
  });
  t.model.script.effects = [{ kind: "llm", device: "/dev/llm/fake", maxTokens: 0 }];
  t.model.script.plan = { reserve: { tokens: 100, usd: null } };
  t.model.script.charge = () => ({ tokens: 100, usd: null });
  const said: string[] = [];
  t.programs.set("child", async (sys) => {
    said.push(await sys.write(asFd(3), bytes("{}")).then(() => "paid", codeOf));
    return EXIT.completed;
  });
  const { sys, pid } = await t.start({ budget: { tokens: 600 } });
  const pids = await Promise.all(Array.from({ length: 20 }, () => sys.spawn("child", null)));
  await Promise.all(pids.map((each) => sys.wait(each)));
  expect(said.toSorted()).toEqual([...Array(15).fill("BUDGET"), ...Array(5).fill("paid")]);
  const { account } = t.proc(pid).seed;
  expect([account.spent.tokens, account.reserved.tokens]).toEqual([500, 0]);
  await sys.write(asFd(3), bytes("{}"));
  expect(account.spent.tokens).toBe(600);
  await t.kernel.abandon("over");
});

test("a bomb of agents that all call the model ends within the budget, and nothing is left", async () => {
  const { t, pid, proc, spawn } = await program(
    { tokens: 1_000, children: 40 },
    { budget: () => ({ defaults: {}, windows: [], agents: { perMinute: 100 } }) },
  );
  t.model.script.effects = [{ kind: "llm", device: "/dev/llm/fake", maxTokens: 0 }];
  t.model.script.plan = { reserve: { tokens: 100, usd: null } };
  t.model.script.charge = () => ({ tokens: 60, usd: null });
  t.programs.set("a", async (sys) => {
    for (;;) await sys.write(asFd(3), bytes("{}"));
  });
  const refusals: string[] = [];
  const loop = async (): Promise<void> => {
    for (;;) {
      try {
        await spawn();
      } catch (error) {
        refusals.push(codeOf(error));
        return;
      }
      await settle(4);
    }
  };
  await Promise.all([loop(), loop(), loop()]);
  await settle(20);
  expect(refusals).toEqual(["BUDGET", "BUDGET", "BUDGET"]);
  const { account } = proc.seed;
  expect(account.children).toBeLessThanOrEqual(40);
  expect(account.reserved).toEqual({ tokens: 0, microUsd: 0, steps: 0 });
  expect(account.spent.tokens).toBeGreaterThan(0);
  expect(account.spent.tokens).toBeLessThanOrEqual(1_000);
  const agents = [...t.kernel.table.all()].filter(({ seed }) => seed.kind === "agent");
  expect(agents.filter(({ isLive }) => isLive)).toEqual([]);
  expect(agents.reduce((sum, { used }) => sum + used.tokens, 0)).toBeLessThanOrEqual(account.spent.tokens);
  await t.init.kill(pid, 2);
  await t.kernel.abandon("over");
  expect([...t.kernel.table.all()].filter(({ isLive, pid: each }) => isLive && each !== 0)).toEqual([]);
});
