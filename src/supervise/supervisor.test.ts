import { describe, expect, test } from "vitest";
import { Fault } from "../abi/errors.ts";
import { asPid, type Pid } from "../abi/ids.ts";
import { EXIT, type ExitStatus, type PermissionMode } from "../abi/process.ts";
import type { ChildSpec, Restart, SupervisorSpec } from "../abi/supervise.ts";
import { hold } from "../kernel/testing/hold.ts";
import { ALLOW } from "../kernel/testing/scripted-permit.ts";
import { agentFile, NOTHING_LEFT, type TestKernel, testKernel } from "../kernel/testing/test-kernel.ts";
import { settle } from "../kernel/testing/virtual-clock.ts";
import { CRASH, Workers } from "./testing.ts";

interface Bench {
  readonly t: TestKernel;
  readonly workers: Workers;
  /** Its name is its intent. */
  child(id: string, more?: Partial<ChildSpec>): ChildSpec;
  start(children: readonly ChildSpec[], more?: Partial<SupervisorSpec>): Promise<Pid>;
}

function bench(overrides: Parameters<typeof testKernel>[0] = {}): Bench {
  const t = testKernel(overrides);
  const workers = new Workers(t);
  return {
    t,
    workers,
    child: (id, more = {}) => {
      workers.add(id);
      return { id, start: { intent: id }, ...more };
    },
    start: (children, more = {}) => t.init.spawnSupervisor({ name: "shop", children, ...more }),
  };
}

/** Everything is gone, and nothing waits, once the reaper's minute is over. */
async function expectNothingLeft(t: TestKernel): Promise<void> {
  await t.clock.advance(60_000);
  await settle();
  expect(t.census()).toEqual(NOTHING_LEFT);
  expect(t.kernel.supervisors.size).toBe(0);
}

async function down(t: TestKernel, pid: Pid): Promise<ExitStatus> {
  const over = t.init.wait(pid);
  await t.init.kill(pid, 1);
  await settle(10);
  return over;
}

const childrenOf = (t: TestKernel, pid: Pid) => t.kernel.supervisor(pid).view().children;

describe("spawnSupervisor()", () => {
  test("starts its children in order, and shuts them down in reverse", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a"), child("b"), child("c")]);
    expect(workers.told()).toBe("+a +b +c");
    expect(t.proc(workers.pid("b"))).toMatchObject({ ppid: pid, seed: { onParentExit: "terminate" } });
    expect(t.kernel.info(t.proc(pid))).toMatchObject({
      kind: "supervisor",
      name: "shop",
      intent: "supervise a, b, c",
    });
    expect(await down(t, pid)).toEqual(EXIT.sigterm);
    expect(workers.told()).toBe("-c -b -a");
    await expectNothingLeft(t);
  });

  test("rejects with the error of the first child that does not start, and leaves nothing", async () => {
    const { t, workers, child, start } = bench();
    const missing: ChildSpec = { id: "c", start: { agent: "ghost", intent: "c" } };
    const made = start([child("a"), child("b"), missing, child("d")]);
    await expect(made).rejects.toMatchObject({ code: "NOT_FOUND", message: "agent not found: ghost" });
    expect(workers.told()).toBe("+a +b -b -a");
    expect(t.kernel.table.size).toBe(0);
    await expectNothingLeft(t);
  });

  test("starts nobody more once it is told to end", async () => {
    const { t, workers, child, start } = bench();
    workers.acts.set("a", (_, { pid }) => t.init.kill(t.proc(pid).ppid, 1));
    await expect(start([child("a"), child("b")])).rejects.toMatchObject({ code: "CANCELLED" });
    expect(workers.told()).toBe("+a -a");
    await expectNothingLeft(t);
  });

  test("ends what it has started when its caller ends", async () => {
    const gate = Promise.withResolvers<never>();
    const resolve = async ({ model }: { model: string }) =>
      model === "slow" ? gate.promise : { device: "/dev/llm/fake", model };
    const { t, workers, child } = bench({ models: { resolve } });
    const caller = await t.start();
    const children = [child("a"), { id: "b", start: { intent: "b", opts: { model: "slow" } } }];
    const made = caller.sys.spawnSupervisor({ name: "shop", children });
    made.catch(() => {});
    await settle();
    expect(workers.told()).toBe("+a");
    await t.init.kill(caller.pid, 1);
    await settle();
    gate.reject(new Error("too late"));
    await expect(made).rejects.toMatchObject({ code: "CANCELLED" });
    expect(workers.told()).toBe("-a");
    await t.init.wait(caller.pid);
    await expectNothingLeft(t);
  });

  test("journals its specification, and each exit before the restart that follows", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a")]);
    expect(t.journal.bodies("process.spawned")[0]).toMatchObject({
      kind: "supervisor",
      supervisor: { name: "shop", children: [{ id: "a" }] },
    });
    const first = workers.pid("a");
    await workers.end("a", CRASH);
    await t.clock.advance(1_000);
    const report = { supervisor: "shop", child: "a", pid: first, exit: CRASH, cause: "boom" };
    expect(t.journal.bodies("supervisor.crash")).toMatchObject([
      { ...report, restarts: 1, decision: "restart", delayMs: 1_000 },
    ]);
    const kept = t.journal.records.map(({ kind }) => kind);
    expect(kept.filter((kind) => kind === "supervisor.crash" || kind === "process.spawned")).toEqual([
      "process.spawned",
      "process.spawned",
      "supervisor.crash",
      "process.spawned",
    ]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("a person's has the person's rights, an agent's part of the agent's", async () => {
    const { t, workers } = bench();
    workers.add("a");
    const opts = { permissionMode: "bypass", cwd: "/desk/shop" } as const;
    const children = [{ id: "a", start: { intent: "a", opts } }];
    const mine = await t.init.spawnSupervisor({ name: "mine", children });
    expect(t.proc(workers.pid("a")).seed).toMatchObject({ mode: "bypass", roots: ["/desk/shop"] });
    await down(t, mine);

    const agent = await t.start({ agent: agentFile({ allowedDevices: ["/dev/fs"] }) });
    const outside = agent.sys.spawnSupervisor({ name: "its", children });
    await expect(outside).rejects.toMatchObject({ code: "PERMISSION" });
    const inside = [{ id: "a", start: { intent: "a", opts: { permissionMode: "bypass" } } }] as const;
    const its = await agent.sys.spawnSupervisor({ name: "its", children: inside });
    expect(t.proc(workers.pid("a")).seed).toMatchObject({
      mode: "default",
      rights: { mode: "default", devices: ["/dev/fs"] },
    });
    expect(t.kernel.table.isAncestor(agent.pid, workers.pid("a"))).toBe(true);
    await down(t, its);
  });
});

describe("restarts", () => {
  test("after 1, 2, 4, 8, 16 s; then it gives up, and the reports say so", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("z"), child("a")]);
    const over = t.init.wait(pid);
    workers.told();
    workers.sick.set("a", CRASH);
    await workers.end("a", CRASH);
    const begun: number[] = [];
    for (let second = 1; second <= 40; second++) {
      await t.clock.advance(1_000);
      if (workers.told().includes("+a")) begun.push(second);
    }
    expect(begun).toEqual([1, 3, 7, 15, 31]);
    expect(await over).toEqual({ code: 1, reason: "restart intensity exceeded: a", kind: "fault" });
    const reports = t.journal.bodies("supervisor.crash");
    expect(
      reports.map(({ child: id, decision, delayMs, restarts }) => [id, decision, delayMs, restarts]),
    ).toEqual([
      ["a", "restart", 1_000, 1],
      ["a", "restart", 2_000, 2],
      ["a", "restart", 4_000, 3],
      ["a", "restart", 8_000, 4],
      ["a", "restart", 16_000, 5],
      ["a", "escalate", 0, 5],
      ["z", "none", 0, 5],
    ]);
    const events = t.journal.bodies("event");
    expect(events.map(({ event, pid: about }) => [event, about])).toEqual([
      ...Array.from({ length: 6 }, () => ["supervisor.crash", pid]),
      ["supervisor.escalated", pid],
      ["supervisor.crash", pid],
    ]);
    expect(events[0]?.data).toMatchObject({ supervisor: "shop", child: "a", exit: CRASH, restarts: 1 });
    expect(t.journal.bodies("supervisor.escalated")).toEqual([
      { supervisor: "shop", child: "a", reason: "restart intensity exceeded: a", cause: "boom" },
    ]);
    await expectNothingLeft(t);
  });

  test("are told in its log", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a")], { intensity: { maxRestarts: 1, windowMs: 60_000 } });
    const first = workers.pid("a");
    await workers.end("a", CRASH);
    await t.clock.advance(1_000);
    const second = workers.pid("a");
    const log = t.proc(pid).logs?.attach({ tail: 256, follow: true });
    await workers.end("a", CRASH);
    expect((await Array.fromAsync(log ?? [])).map(({ message }) => message)).toEqual([
      `a: started (PID ${first})`,
      `a (PID ${first}): exited(1): boom; restarting in 1.0s (1/1)`,
      `a: started (PID ${second})`,
      `a (PID ${second}): exited(1): boom`,
      "restart intensity exceeded: a",
      "error: restart intensity exceeded: a",
    ]);
    await expectNothingLeft(t);
  });

  test("a long run ends the row: the next wait is the first again", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a")]);
    await workers.end("a", CRASH);
    await t.clock.advance(1_000);
    await workers.end("a", CRASH);
    await t.clock.advance(2_000);
    await t.clock.advance(60_000);
    await workers.end("a", CRASH);
    expect(t.journal.bodies("supervisor.crash").map(({ delayMs }) => delayMs)).toEqual([1_000, 2_000, 1_000]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  const outcomes: [Restart, string, ExitStatus, string][] = [
    ["permanent", "completes", EXIT.completed, "restarting"],
    ["permanent", "fails", CRASH, "restarting"],
    ["transient", "completes", EXIT.completed, "done"],
    ["transient", "runs into a limit", EXIT.maxSteps, "done"],
    ["transient", "spends its budget", EXIT.budget, "done"],
    ["transient", "fails", CRASH, "restarting"],
    ["temporary", "fails", CRASH, "done"],
  ];
  test.each(outcomes)("of a %s child that %s", async (restart, _what, exit, state) => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a", { restart })]);
    await workers.end("a", exit);
    expect(childrenOf(t, pid)).toMatchObject([{ id: "a", state, lastExit: exit }]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("after a person's kill: a permanent child comes back, a transient one does not", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a", { restart: "permanent" }), child("b", { restart: "transient" })]);
    await t.init.kill(workers.pid("a"), 2);
    await t.init.kill(workers.pid("b"), 2);
    await settle(10);
    await t.clock.advance(1_000);
    expect(workers.alive).toEqual(["a"]);
    expect(childrenOf(t, pid).map(({ state }) => state)).toEqual(["running", "done"]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("none for a permanent child over its budget: it is given up at once", async () => {
    const { t, workers, child, start } = bench();
    const over = t.init.wait(await start([child("a"), child("b")]));
    workers.told();
    await workers.end("a", EXIT.budget);
    expect(await over).toEqual({ code: 1, reason: "a: budget_exceeded", kind: "fault" });
    expect(workers.told()).toBe("-a -b");
    await expectNothingLeft(t);
  });

  test("one_for_all: the others go down in reverse, all start in order, temporary ones are dropped", async () => {
    const { t, workers, child, start } = bench();
    const children = [child("a"), child("b", { restart: "temporary" }), child("c"), child("d")];
    const pid = await start(children, { strategy: "one_for_all" });
    workers.told();
    await workers.end("c", CRASH);
    expect(workers.told()).toBe("-c -d -b -a");
    await t.clock.advance(1_000);
    expect(workers.told()).toBe("+a +c +d");
    expect(childrenOf(t, pid).map(({ state, restarts }) => [state, restarts])).toEqual([
      ["running", 0],
      ["done", 0],
      ["running", 1],
      ["running", 0],
    ]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("rest_for_one: those after it go down, those before it stay", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a"), child("b"), child("c"), child("d")], { strategy: "rest_for_one" });
    const first = workers.pid("a");
    workers.told();
    await workers.end("b", CRASH);
    expect(workers.told()).toBe("-b -d -c");
    await t.clock.advance(1_000);
    expect(workers.told()).toBe("+b +c +d");
    expect(workers.pid("a")).toBe(first);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("rest_for_one: one before it that exits meanwhile takes the wait along", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a"), child("b"), child("c")], { strategy: "rest_for_one" });
    await workers.end("b", CRASH);
    await t.clock.advance(400);
    await workers.end("a", CRASH);
    workers.told();
    await t.clock.advance(999);
    expect(workers.told()).toBe("");
    await t.clock.advance(1);
    expect(workers.told()).toBe("+a +b +c");
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("two that exit at once count once where both go down together", async () => {
    const { t, workers, child, start } = bench();
    const intensity = { maxRestarts: 1, windowMs: 60_000 };
    const pid = await start([child("a"), child("b")], { strategy: "one_for_all", intensity });
    await Promise.all([workers.end("a", CRASH), workers.end("b", CRASH)]);
    await t.clock.advance(1_000);
    expect(workers.alive).toEqual(["a", "b"]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("one whose start fails counts too, and takes the rest of its round along", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a"), child("b"), child("c")], { strategy: "one_for_all" });
    let failures = 2;
    t.model.script.open = async ({ pid: opener }) => {
      if (t.proc(opener).seed.intent === "b" && failures-- > 0) throw new Error("no model");
    };
    await workers.end("a", CRASH);
    workers.told();
    await t.clock.advance(1_000);
    expect(workers.told()).toBe("+a -a");
    await t.clock.advance(1_000);
    expect(workers.told()).toBe("+a -a");
    await t.clock.advance(2_000);
    expect(workers.told()).toBe("+a +b +c");
    const restarts = t.journal.bodies("supervisor.crash").filter(({ decision }) => decision === "restart");
    expect(restarts.map(({ child: id, cause, restarts: count }) => [id, cause, count])).toEqual([
      ["a", "boom", 1],
      ["b", "no model", 2],
      ["b", "no model", 3],
    ]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test.each(["BUDGET", "PERMISSION"] as const)(
    "one that is refused with %s is given up at once",
    async (code) => {
      const { t, workers, child, start } = bench();
      const over = t.init.wait(await start([child("a")]));
      t.model.script.open = async () => {
        throw new Fault({ code, message: "not again" });
      };
      await workers.end("a", CRASH);
      await t.clock.advance(1_000);
      expect(await over).toMatchObject({ code: 1, reason: "a: not again", kind: "fault" });
      await expectNothingLeft(t);
    },
  );

  test("spend what is left of the budget, below a restarted supervisor too", async () => {
    const { t, workers, start } = bench();
    workers.add("a");
    const inner: SupervisorSpec = {
      name: "inner",
      children: [{ id: "a", start: { intent: "a", opts: { contextBudget: 100 } } }],
      intensity: { maxRestarts: 1, windowMs: 1_000_000 },
    };
    const pid = await start([{ id: "inner", start: { supervisor: inner } }]);
    const reserve = (tokens: number) => hold(t.proc(workers.pid("a")).seed.account, tokens);
    reserve(30)?.settle(30);
    await workers.end("a", CRASH);
    await t.clock.advance(1_000);
    expect(workers.sys("a").account()).toEqual({ limit: 100, used: 30, reserved: 0 });
    reserve(50)?.settle(50);
    // the inner one gives up, the outer starts it again
    await workers.end("a", CRASH);
    await t.clock.advance(1_000);
    expect(workers.sys("a").account()).toEqual({ limit: 100, used: 80, reserved: 0 });
    expect(reserve(21)).toBeUndefined();
    expect(t.proc(pid).seed.account.view().used).toBe(80);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("have the rights of the first start, though agent file and settings have changed", async () => {
    let defaultMode: PermissionMode = "accept_edits";
    const { t, workers, start } = bench({
      permitFor: () => ({ defaultMode, decide: () => ALLOW }),
    });
    workers.add("a");
    t.agents.set("worker", agentFile({ allowedDevices: ["/dev/fs"] }));
    const pid = await start([{ id: "a", start: { agent: "worker", intent: "a" } }]);
    t.agents.set("worker", agentFile());
    defaultMode = "bypass";
    await workers.end("a", CRASH);
    await t.clock.advance(1_000);
    const { seed } = t.proc(workers.pid("a"));
    expect(seed).toMatchObject({ rights: { devices: ["/dev/fs"] }, mode: "accept_edits" });
    await down(t, pid);
    await expectNothingLeft(t);
  });
});

describe("shutdown", () => {
  test("TERM, the child's time, KILL; the next one only then", async () => {
    const { t, workers, child, start } = bench();
    for (const id of ["a", "b", "c"]) workers.stubborn.add(id);
    const pid = await start([child("a", { shutdown: 2_000 }), child("b"), child("c", { shutdown: "kill" })]);
    const [a, b, c] = ["a", "b", "c"].map((id) => t.proc(workers.pid(id)));
    const over = t.init.wait(pid);
    await t.init.kill(pid, 1);
    await settle();
    expect([c?.exit?.code, b?.ending.verdict?.code, a?.ending.verdict]).toEqual([137, undefined, null]);
    await workers.end("c");
    await t.clock.advance(4_999);
    expect([b?.state, b?.ending.verdict?.code, a?.ending.verdict]).toEqual(["running", 143, null]);
    await t.clock.advance(1);
    expect(b?.exit?.code).toBe(137);
    await workers.end("b");
    await t.clock.advance(2_000);
    await workers.end("a");
    expect(await over).toEqual(EXIT.sigterm);
    const reports = t.journal.bodies("supervisor.crash");
    expect(reports.map(({ child: id, decision, exit }) => [id, decision, (exit as ExitStatus).code])).toEqual(
      [
        ["c", "none", 137],
        ["b", "none", 137],
        ["a", "none", 137],
      ],
    );
    await expectNothingLeft(t);
  });

  test("one without limit waits as long as it takes", async () => {
    const { t, workers, child, start } = bench();
    workers.stubborn.add("a");
    const pid = await start([child("a", { shutdown: "infinity" })]);
    const over = t.init.wait(pid);
    await t.init.kill(pid, 1);
    await t.clock.advance(1_000_000);
    expect(workers.alive).toEqual(["a"]);
    await workers.end("a");
    expect((await over).code).toBe(143);
    await expectNothingLeft(t);
  });

  test("takes along what cannot be kept from starting any more", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a")]);
    await workers.end("a", CRASH);
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    await t.clock.advance(1_000);
    workers.told();
    const over = t.init.wait(pid);
    const told = t.init.kill(pid, 1);
    await settle();
    gate.resolve();
    await told;
    expect((await over).code).toBe(143);
    expect([workers.told(), workers.alive]).toEqual(["+a -a", []]);
    expect(t.journal.bodies("supervisor.crash").at(-1)).toMatchObject({ child: "a", decision: "none" });
    await expectNothingLeft(t);
  });

  test("ends the wait for a restart", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a"), child("b")]);
    await workers.end("a", CRASH);
    workers.told();
    expect((await down(t, pid)).code).toBe(143);
    expect(workers.told()).toBe("-b");
    expect(t.clock.pending).toBe(0);
    await expectNothingLeft(t);
  });

  test("comes with INT too, with its own code", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a")]);
    const over = t.init.wait(pid);
    await t.init.kill(pid, 3);
    expect(await over).toEqual(EXIT.sigint);
    expect(workers.alive).toEqual([]);
    await expectNothingLeft(t);
  });

  test("KILL leaves no child, however deep and stubborn", async () => {
    const { t, workers, child, start } = bench();
    const inner: SupervisorSpec = { name: "inner", children: [child("x"), child("y")] };
    for (const id of ["a", "b", "x", "y"]) workers.stubborn.add(id);
    const pid = await start([child("a"), { id: "inner", start: { supervisor: inner } }, child("b")]);
    await t.init.kill(pid, 2);
    await settle();
    expect([...t.kernel.table.all()].filter((proc) => proc.isLive)).toEqual([]);
    for (const id of workers.alive) await workers.end(id);
    await t.clock.advance(5_000);
    await expectNothingLeft(t);
  });

  test("KILL after a TERM that takes its time leaves none either", async () => {
    const { t, workers, child, start } = bench();
    for (const id of ["a", "b"]) workers.stubborn.add(id);
    const pid = await start([child("a"), child("b", { shutdown: "infinity" })]);
    const over = t.init.wait(pid);
    await t.init.kill(pid, 1);
    await t.clock.advance(60_000);
    await t.init.kill(pid, 2);
    await settle();
    expect([...t.kernel.table.all()].filter((proc) => proc.isLive)).toEqual([]);
    for (const id of workers.alive) await workers.end(id);
    await t.clock.advance(5_000);
    expect(await over).toEqual(EXIT.sigkill);
    await expectNothingLeft(t);
  });

  test("KILL while it starts a child leaves none", async () => {
    const { t, workers, child, start } = bench();
    const gate = Promise.withResolvers<void>();
    t.model.script.open = async ({ pid }) => {
      if (t.proc(pid).seed.intent === "b") await gate.promise;
    };
    const made = start([child("a"), child("b")]);
    made.catch(() => {});
    await settle();
    await t.init.kill(asPid(1), 2);
    await settle();
    gate.resolve();
    await expect(made).rejects.toMatchObject({ code: "CANCELLED" });
    await settle(10);
    expect(workers.alive).toEqual([]);
    await expectNothingLeft(t);
  });

  test("of the kernel restarts nobody", async () => {
    const { t, workers, child, start } = bench();
    const inner: SupervisorSpec = { name: "inner", children: [child("x"), child("y")] };
    await start([child("a"), { id: "inner", start: { supervisor: inner } }]);
    workers.told();
    const closing = t.kernel.shutdown(1_000);
    await t.clock.advance(6_000);
    await closing;
    expect(workers.told()).not.toContain("+");
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});

describe("a nested supervisor", () => {
  test("that gives up is restarted by the outer one, its children in order", async () => {
    const { t, workers, child, start } = bench();
    const intensity = { maxRestarts: 0, windowMs: 1_000 };
    const inner: SupervisorSpec = { name: "inner", children: [child("x"), child("y")], intensity };
    const pid = await start([child("a"), { id: "inner", start: { supervisor: inner } }]);
    workers.told();
    await workers.end("x", CRASH);
    expect(workers.told()).toBe("-x -y");
    await t.clock.advance(1_000);
    expect(workers.told()).toBe("+x +y");
    expect(t.kernel.supervisor(pid).view().crashes).toMatchObject([
      { child: "inner", cause: "restart intensity exceeded: x", decision: "restart" },
    ]);
    await down(t, pid);
    expect(workers.told()).toBe("-y -x -a");
    await expectNothingLeft(t);
  });

  test("that is transient is done for when a person ends it", async () => {
    const { t, workers, child, start } = bench();
    const inner: SupervisorSpec = { name: "inner", children: [child("x")] };
    const pid = await start([{ id: "inner", start: { supervisor: inner }, restart: "transient" }]);
    await t.init.kill(childrenOf(t, pid)[0]?.pid as Pid, 1);
    await t.clock.advance(40_000);
    expect(workers.alive).toEqual([]);
    expect(childrenOf(t, pid)).toMatchObject([{ state: "done" }]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("whose child does not start is not there, and the outer one neither", async () => {
    const { t, workers, child, start } = bench();
    const missing: ChildSpec = { id: "y", start: { agent: "ghost", intent: "y" } };
    const inner: SupervisorSpec = { name: "inner", children: [child("x"), missing] };
    const made = start([child("a"), { id: "inner", start: { supervisor: inner } }]);
    await expect(made).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(workers.told()).toBe("+a +x -x -a");
    await expectNothingLeft(t);
  });
});

test("a pause holds restarts until it goes on; TERM ends the pause", async () => {
  const { t, workers, child, start } = bench();
  const pid = await start([child("a")]);
  await t.init.kill(pid, 4);
  await workers.end("a", CRASH);
  await t.clock.advance(60_000);
  expect(workers.alive).toEqual([]);
  await t.init.kill(pid, 5);
  await settle();
  expect(workers.alive).toEqual(["a"]);
  await t.init.kill(pid, 4);
  await workers.end("a", CRASH);
  await t.clock.advance(2_000);
  expect((await down(t, pid)).code).toBe(143);
  await expectNothingLeft(t);
});

describe("exitWhenDone", () => {
  test("it completes when no child is left", async () => {
    const { t, workers, child, start } = bench();
    const children = [child("a", { restart: "temporary" }), child("b", { restart: "transient" })];
    const over = t.init.wait(await start(children, { exitWhenDone: true }));
    await workers.end("a", CRASH);
    await workers.end("b", CRASH);
    await t.clock.advance(1_000);
    await workers.end("b");
    expect(await over).toEqual(EXIT.completed);
    await expectNothingLeft(t);
  });

  test("one without children completes at once; without the wish it stays", async () => {
    const { t, start } = bench();
    expect(await t.init.wait(await start([], { exitWhenDone: true }))).toEqual(EXIT.completed);
    const pid = await start([]);
    await settle();
    expect(t.proc(pid).state).toBe("running");
    await down(t, pid);
    await expectNothingLeft(t);
  });
});

describe("steering", () => {
  test("stop, start and restart, each only where it fits", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a"), child("b")]);
    const shop = t.kernel.supervisor(pid);
    const [runs, unknown] = [`child a runs: PID ${workers.pid("a")}`, "supervisor shop has no child c"];
    await expect(shop.startChild("a")).rejects.toMatchObject({ code: "CONFLICT", message: runs });
    await expect(shop.startChild("c")).rejects.toMatchObject({ code: "NOT_FOUND", message: unknown });
    await expect(shop.stopChild("c")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(shop.restartChild("c")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await shop.stopChild("a");
    await t.clock.advance(60_000);
    expect([workers.alive, shop.view().children[0]?.state]).toEqual([["b"], "stopped"]);
    const stopped = "child a does not run: it is stopped";
    await expect(shop.stopChild("a")).rejects.toMatchObject({ code: "CONFLICT", message: stopped });
    await expect(shop.restartChild("a")).rejects.toMatchObject({ code: "CONFLICT", message: stopped });
    await shop.startChild("a");
    const before = workers.pid("a");
    await shop.restartChild("a");
    expect(workers.pid("a")).not.toBe(before);
    expect(shop.view().crashes.map(({ child: id, decision }) => [id, decision])).toEqual([
      ["a", "none"],
      ["a", "none"],
    ]);
    expect(shop.view().children.map(({ restarts }) => restarts)).toEqual([0, 0]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("of one that waits for its restart: none of them waits with it", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a")]);
    const shop = t.kernel.supervisor(pid);
    await workers.end("a", CRASH);
    expect(shop.view().children).toMatchObject([{ state: "restarting", nextStartAt: t.clock.now() + 1_000 }]);
    await shop.stopChild("a");
    expect(t.clock.pending).toBe(0);
    await t.clock.advance(60_000);
    expect(workers.alive).toEqual([]);
    await shop.startChild("a");
    await workers.end("a", CRASH);
    await shop.restartChild("a");
    expect([workers.alive, t.clock.pending]).toEqual([["a"], 0]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("stop ends a start that is under way: nobody's failure, and the round goes on", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a"), child("b")], { strategy: "one_for_all" });
    const shop = t.kernel.supervisor(pid);
    const gate = Promise.withResolvers<void>();
    t.model.script.open = async ({ pid: opener }) => {
      if (t.proc(opener).seed.intent === "a") await gate.promise;
    };
    await workers.end("b", CRASH);
    await t.clock.advance(1_000);
    await shop.stopChild("a");
    gate.resolve();
    await settle();
    expect(workers.alive).toEqual(["b"]);
    expect(shop.view().children.map(({ state }) => state)).toEqual(["stopped", "running"]);
    expect(shop.view().crashes.filter(({ decision }) => decision === "restart")).toHaveLength(1);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("one that was stopped stays so when all are restarted", async () => {
    const { t, workers, child, start } = bench();
    const pid = await start([child("a"), child("b"), child("c")], { strategy: "one_for_all" });
    await t.kernel.supervisor(pid).stopChild("b");
    await workers.end("a", CRASH);
    await t.clock.advance(1_000);
    expect(workers.alive).toEqual(["a", "c"]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("a start that fails is told to who asked, and counts for nothing", async () => {
    const { t, child, start } = bench();
    const pid = await start([child("a")], { intensity: { maxRestarts: 0, windowMs: 1 } });
    const shop = t.kernel.supervisor(pid);
    await shop.stopChild("a");
    t.model.script.open = async () => {
      throw new Fault({ code: "DRIVER", message: "no model" });
    };
    await expect(shop.startChild("a")).rejects.toMatchObject({ code: "DRIVER", message: "no model" });
    expect(shop.view().children).toMatchObject([{ state: "stopped" }]);
    await down(t, pid);
    await expectNothingLeft(t);
  });

  test("calls that wait are bounded, and hear of the end", async () => {
    const { t, workers, child, start } = bench();
    workers.stubborn.add("a");
    const pid = await start([child("a", { shutdown: "infinity" })]);
    const shop = t.kernel.supervisor(pid);
    const outcomes = Promise.allSettled(Array.from({ length: 64 }, () => shop.stopChild("a")));
    await settle();
    await expect(shop.stopChild("a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await t.init.kill(pid, 2);
    await settle();
    await workers.end("a");
    const codes = (await outcomes).map((one) => (one.status === "rejected" ? one.reason.code : "ok"));
    expect(codes.filter((code) => code === "CANCELLED")).toHaveLength(63);
    expect(() => t.kernel.supervisor(pid)).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
    await t.clock.advance(5_000);
    await expectNothingLeft(t);
  });
});

test("a thousand crashes leave twenty reports and nothing else", async () => {
  const { t, workers, child, start } = bench();
  const pid = await start([child("a")], {
    intensity: { maxRestarts: 1_000_000, windowMs: 1 },
    backoff: { initialMs: 10, factor: 1, maxMs: 10, jitter: 0 },
  });
  const before = t.census();
  for (let crash = 0; crash < 1_000; crash++) {
    await workers.end("a", { ...CRASH, reason: "x".repeat(5_000) });
    await t.clock.advance(10);
  }
  const view = t.kernel.supervisor(pid).view();
  expect(view.crashes).toHaveLength(20);
  expect(view.crashes[0]?.cause).toHaveLength(1_001);
  expect(view.children).toMatchObject([{ restarts: 1_000, state: "running" }]);
  expect(t.census()).toEqual(before);
  await down(t, pid);
  await expectNothingLeft(t);
});
