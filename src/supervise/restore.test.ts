/** Supervisors across daemons: what the next one brings back, and what it decides of the children that were lost. */

import { describe, expect, test } from "vitest";
import { EXIT } from "../abi/process.ts";
import type { SupervisorSpec } from "../abi/supervise.ts";
import { labelsFacet } from "../kernel/labels/facet.ts";
import { Daemon } from "../kernel/testing/daemons.ts";
import { hold } from "../kernel/testing/hold.ts";
import { agentFile } from "../kernel/testing/test-kernel.ts";
import { settle } from "../kernel/testing/virtual-clock.ts";
import { CRASH } from "./testing.ts";

const MINUTE = { maxRestarts: 2, windowMs: 60_000 };

describe("a supervisor comes back", () => {
  test("under its pid, with its children started again in order, under new pids", async () => {
    const first = new Daemon();
    const { child } = first;
    const pid = await first.start([child("a"), child("b"), child("c")], { backoff: slow(1_000) });
    const before = first.t.proc(pid);
    const old = first.workers.pid("c");
    const next = await first.next();
    expect(next.states(pid)).toBe("a restarting 1, b restarting 1, c restarting 1");
    const back = next.t.proc(pid);
    expect(back.seed).toMatchObject({ uuid: before.seed.uuid, mode: before.seed.mode, cwd: before.seed.cwd });
    expect(next.t.kernel.info(back)).toMatchObject({
      kind: "supervisor",
      name: "shop",
      ppid: 0,
      state: "running",
    });
    await next.t.clock.advance(999);
    expect(next.workers.told()).toBe("");
    await next.t.clock.advance(1);
    expect(next.workers.told()).toBe("+a +b +c");
    expect(next.workers.pid("a")).toBeGreaterThan(old);
    expect(next.states(pid)).toBe("a running 1, b running 1, c running 1");
    expect(next.t.proc(next.workers.pid("b"))).toMatchObject({
      ppid: pid,
      seed: { onParentExit: "terminate" },
    });
    await next.expectNothingLeft(pid);
  });

  test("each lost child is one exit, 137: permanent and transient restart, temporary is dropped", async () => {
    const first = new Daemon();
    const { child } = first;
    const pid = await first.start([
      child("a", { restart: "temporary" }),
      child("b", { restart: "transient" }),
      child("c"),
    ]);
    const next = await first.next();
    expect(next.t.kernel.supervisor(pid).view().crashes).toMatchObject([
      { child: "a", exit: { code: 137, reason: "lost" }, decision: "drop", restarts: 0 },
      { child: "b", exit: { code: 137, reason: "lost" }, decision: "restart", restarts: 0 },
      { child: "c", exit: { code: 137, reason: "lost" }, decision: "restart", restarts: 0 },
    ]);
    await next.t.clock.advance(1_000);
    expect(next.workers.told()).toBe("+b +c");
    expect(next.states(pid)).toBe("a done 0, b running 1, c running 1");
    await next.expectNothingLeft(pid);
  });

  test("the death of a daemon is no failure of its children, however often it dies", async () => {
    let daemon = new Daemon();
    const { child } = daemon;
    const pid = await daemon.start([child("a"), child("b"), child("c")], { intensity: MINUTE });
    for (let death = 1; death <= 4; death++) {
      daemon = await daemon.next();
      // the delay before a restart does not grow either
      await daemon.t.clock.advance(1_000);
      expect(daemon.workers.told()).toBe("+a +b +c");
      expect(daemon.states(pid)).toBe(`a running ${death}, b running ${death}, c running ${death}`);
    }
    await daemon.workers.end("a", CRASH);
    await daemon.t.clock.advance(1_000);
    await daemon.workers.end("a", CRASH);
    await daemon.t.clock.advance(2_000);
    expect(daemon.states(pid)).toBe("a running 6, b running 4, c running 4");
    await daemon.workers.end("a", CRASH);
    expect(daemon.t.proc(pid).exit?.reason).toBe("restart intensity exceeded: a");
    await daemon.expectNothingLeft(pid);
  });

  test("one failure too many ends it, though another daemon saw those before", async () => {
    const first = new Daemon();
    const { child } = first;
    const pid = await first.start([child("a"), child("b")], { intensity: MINUTE });
    await first.workers.end("a", CRASH);
    await first.t.clock.advance(1_000);
    await first.workers.end("a", CRASH);
    await first.t.clock.advance(2_000);
    await first.t.journal.sync();
    const next = await first.next();
    await next.t.clock.advance(4_000);
    expect(next.workers.told()).toBe("+a +b");
    await next.workers.end("b", CRASH);
    expect(next.t.proc(pid).exit).toEqual({
      code: 1,
      reason: "restart intensity exceeded: b",
      kind: "fault",
    });
    await next.expectNothingLeft(pid);
  });

  test("the time between the daemons counts for its window", async () => {
    const first = new Daemon();
    const { child } = first;
    const pid = await first.start([child("a"), child("b")], { intensity: MINUTE });
    await first.workers.end("a", CRASH);
    await first.t.clock.advance(1_000);
    await first.workers.end("a", CRASH);
    await first.t.clock.advance(2_000);
    await first.t.journal.sync();
    const next = await first.next(59_001);
    await next.t.clock.advance(4_000);
    await next.workers.end("b", CRASH);
    await next.t.clock.advance(1_000);
    expect(next.states(pid)).toBe("a running 3, b running 2");
    await next.expectNothingLeft(pid);
  });

  test.each([
    ["one_for_all", "a running 1, b running 0, c running 0", "none none restart", "+a +b +c"],
    ["rest_for_one", "a running 1, b running 0, c running 0", "none none restart", "+a +b +c"],
  ] as const)(
    "%s: those that go down together are one restart",
    async (strategy, states, decisions, told) => {
      const first = new Daemon();
      const { child } = first;
      const pid = await first.start([child("a"), child("b"), child("c")], { strategy });
      const next = await first.next();
      await next.t.clock.advance(1_000);
      expect(next.states(pid)).toBe(states);
      const crashes = next.t.kernel
        .supervisor(pid)
        .view()
        .crashes.map(({ decision }) => decision);
      expect([...crashes].sort().join(" ")).toBe(decisions);
      expect(next.workers.told()).toBe(told);
      await next.expectNothingLeft(pid);
    },
  );

  test("a child that a person stopped stays stopped; one that ended by itself is judged by its own exit", async () => {
    const first = new Daemon();
    const { child } = first;
    const transient = { restart: "transient" } as const;
    const pid = await first.start([child("a"), child("b", transient), child("c", transient), child("d")]);
    await first.t.kernel.supervisor(pid).stopChild("a");
    // the end of `b` is in the journal; what the supervisor made of it is not
    await first.workers.end("b", EXIT.completed);
    const next = await first.next();
    await next.t.clock.advance(1_000);
    expect(next.states(pid)).toBe("a stopped 0, b done 0, c running 1, d running 1");
    expect(next.workers.told()).toBe("+c +d");
    await next.t.kernel.supervisor(pid).startChild("a");
    expect(next.states(pid)).toContain("a running");
    await next.expectNothingLeft(pid);
  });

  test("what was spent stays spent, and what was set aside is spent too", async () => {
    const first = new Daemon();
    const pid = await first.start([
      { id: "a", start: { intent: "a", opts: { contextBudget: 1_000, permissionMode: "accept_edits" } } },
    ]);
    const { seed } = first.t.proc(first.workers.pid("a"));
    hold(seed.account, 300)?.settle(300);
    seed.account.onUse?.(seed.account.spent);
    const open = { tool: "m", device: "/dev/llm/fake", class: "once", effects: [], input: "", reserved: 200 };
    await first.t.journal.append([
      { proc: seed.uuid, pid: seed.pid, kind: "call.intent", v: 1, call: "c_1" as never, body: open },
    ]);
    let daemon = await first.next();
    for (let round = 0; round < 3; round++) {
      await daemon.t.clock.advance(30_000);
      const again = daemon.t.proc(daemon.workers.pid("a")).seed;
      expect([again.account.view(), again.mode]).toEqual([
        { limit: 1_000, used: 500, reserved: 0 },
        "accept_edits",
      ]);
      daemon = await daemon.next();
    }
    await daemon.expectNothingLeft(pid);
  });

  test("an agent file that was changed meanwhile gives no right that its first run had not", async () => {
    const first = new Daemon();
    first.t.agents.set("clerk", agentFile({ allowedDevices: ["/dev/fs"] }));
    const clerk = { id: "a", start: { agent: "clerk", intent: "a" } };
    const pid = await first.start([clerk]);
    first.t.journal.crash();
    const next = new Daemon(first);
    next.workers.add("a");
    next.t.agents.set("clerk", agentFile({ allowedDevices: ["/dev/fs", "/dev/shell"] }));
    await next.t.kernel.recover();
    await next.t.clock.advance(2_000);
    expect(next.t.proc(next.workers.pid("a")).seed.rights.devices).toEqual(["/dev/fs"]);
    await next.expectNothingLeft(pid);
  });

  test("an agent file that has a memory only since then gives no notes of its own, one that had it does", async () => {
    const file = (memory?: "user") => {
      const agent = agentFile();
      const manifest = { ...agent.manifest, ...(memory === undefined ? {} : { memory }) };
      return { ...agent, manifest };
    };
    for (const [before, folder] of [
      [undefined, undefined],
      ["user", "tester"],
    ] as const) {
      const first = new Daemon();
      first.t.agents.set("clerk", file(before));
      const pid = await first.start([{ id: "a", start: { agent: "clerk", intent: "a" } }]);
      first.t.journal.crash();
      const next = new Daemon(first);
      next.workers.add("a");
      next.t.agents.set("clerk", file("user"));
      await next.t.kernel.recover();
      await next.t.clock.advance(2_000);
      expect(next.t.proc(next.workers.pid("a")).seed.rights.notes?.folder).toBe(folder);
      await next.expectNothingLeft(pid);
    }
  });

  test("a supervisor below it comes back from its own records, once; no child is there twice", async () => {
    const first = new Daemon();
    const { child } = first;
    const inner: SupervisorSpec = { name: "inner", children: [child("b"), child("c")] };
    const pid = await first.start([child("a"), { id: "in", start: { supervisor: inner } }]);
    const nested = first.t.proc(first.workers.pid("b")).ppid;
    const next = await first.next();
    expect(next.states(pid)).toBe("a restarting 1, in running 0");
    expect(next.states(nested)).toBe("b restarting 1, c restarting 1");
    await next.t.clock.advance(1_000);
    expect(next.workers.told().split(" ").sort()).toEqual(["+a", "+b", "+c"]);
    expect(next.t.kernel.table.size).toBe(5);
    await next.t.init.kill(nested, 2);
    await settle(10);
    await next.t.clock.advance(2_000);
    expect(next.states(pid)).toBe("a running 1, in running 1");
    expect(next.t.kernel.table.size).toBe(5);
    await next.expectNothingLeft(pid);
  });

  test("one whose caller was never told that it runs is lost, with what it had started", async () => {
    const first = new Daemon();
    const gate = Promise.withResolvers<never>();
    gate.promise.catch(() => {});
    first.workers.add("a");
    first.t.agents.set("slow", agentFile());
    const resolve = async ({ model }: { model: string }) =>
      model === "slow" ? gate.promise : { device: "/dev/llm/fake", model };
    const stuck = new Daemon(undefined, { models: { resolve } });
    const slowly = { id: "b", start: { intent: "b", opts: { model: "slow" } } };
    stuck.start([stuck.child("a"), slowly]).catch(() => {});
    await settle(6);
    expect(stuck.workers.alive).toEqual(["a"]);
    const next = await stuck.next();
    await next.t.clock.advance(60_000);
    expect([next.t.kernel.table.size, next.workers.told()]).toEqual([0, ""]);
    expect(next.t.logs.join("\n")).toContain("it had not started all its children");
  });

  test("one that was told to end does not come back to life", async () => {
    const first = new Daemon();
    first.workers.stubborn.add("a");
    const pid = await first.start([first.child("a")]);
    await first.t.init.kill(pid, 1);
    await settle();
    expect(first.workers.alive).toEqual(["a"]);
    await first.t.journal.sync();
    const next = await first.next();
    await next.t.clock.advance(60_000);
    expect(next.workers.told()).toBe("");
    expect(next.t.journal.bodies("process.exited").at(-1)).toMatchObject({
      code: 143,
      reason: EXIT.sigterm.reason,
    });
  });

  test("a paused one comes back paused: it starts nothing before it goes on", async () => {
    const first = new Daemon();
    const pid = await first.start([first.child("a")]);
    await first.t.init.kill(pid, 4);
    const next = await first.next();
    await next.t.clock.advance(60_000);
    expect(next.workers.told()).toBe("");
    await next.t.init.kill(pid, 5);
    await next.t.clock.advance(2_000);
    expect(next.workers.told()).toBe("+a");
    await next.expectNothingLeft(pid);
  });

  test("a child that was given data to read is not started, and says why", async () => {
    const first = new Daemon();
    const stdin = new TextEncoder().encode("once");
    const pid = await first.start([{ id: "a", start: { intent: "a", opts: { stdin } } }, first.child("b")]);
    const next = await first.next();
    await next.t.clock.advance(1_000);
    expect(next.states(pid)).toBe("a stopped 0, b running 1");
    const log = next.t.proc(pid).logs?.kept.map(({ message }) => message) ?? [];
    expect(log.join("\n")).toContain("a is not started: what it was given to read is gone");
    await expect(next.t.kernel.supervisor(pid).startChild("a")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "child a cannot be started as it was: what it was given to read is gone",
    });
    await next.expectNothingLeft(pid);
  });

  test("what the user pinned to it is there again", async () => {
    const first = new Daemon();
    const pid = await first.start([first.child("a")]);
    await first.t.kernel.pin(pid, { text: "the shop", by: { principal: "user", client: "c", uid: 1 } });
    const next = await first.next();
    expect(next.t.kernel.info(next.t.proc(pid)).note).toBe("the shop");
    await next.expectNothingLeft(pid);
  });

  test("what an agent had read stays known of what its supervisor starts", async () => {
    const first = new Daemon();
    const agent = await first.t.start({ agent: agentFile() });
    const web = { kind: "untrusted", source: "web", detail: "https://a.test/" } as const;
    first.t.proc(agent.pid).facts.change(labelsFacet, "label.add", { labels: [web] });
    first.workers.add("a");
    const pid = await agent.sys.spawnSupervisor({ name: "its", children: [first.child("a")] });
    await first.t.init.kill(agent.pid, 4);
    const next = await first.next();
    await next.t.clock.advance(1_000);
    expect([next.t.proc(pid).labels, next.t.proc(next.workers.pid("a")).labels]).toEqual([[web], [web]]);
    await next.t.init.kill(agent.pid, 2);
    await next.expectNothingLeft(pid);
  });

  test("an agent's has part of the agent's rights again, and is not wider when the agent is", async () => {
    const first = new Daemon();
    const agent = await first.t.start({ agent: agentFile({ allowedDevices: ["/dev/fs"] }), cwd: "/desk" });
    first.workers.add("a");
    const pid = await agent.sys.spawnSupervisor({ name: "its", children: [first.child("a")] });
    await first.t.init.kill(agent.pid, 4);
    const before = first.t.proc(first.workers.pid("a")).seed;
    const next = await first.next();
    await next.t.clock.advance(1_000);
    expect(next.t.proc(pid).ppid).toBe(agent.pid);
    const { mode, rights, roots, session } = next.t.proc(next.workers.pid("a")).seed;
    expect({ mode, rights, roots }).toEqual({
      mode: before.mode,
      rights: before.rights,
      roots: before.roots,
    });
    expect(session).toBe(next.t.proc(agent.pid).seed.session);
    await next.t.init.kill(agent.pid, 2);
    await next.expectNothingLeft(pid);
  });
});

test("a restart that was due soon is not late because the wall clock was set back", async () => {
  const first = new Daemon();
  const pid = await first.start([first.child("a")], { backoff: slow(10_000) });
  first.t.clock.jump(24 * 3_600_000);
  await first.workers.end("a", CRASH);
  await first.t.journal.sync();
  expect(first.states(pid)).toBe("a restarting 1");
  const next = await first.next();
  await next.t.clock.advance(30_000);
  expect(next.workers.told()).toBe("+a");
  await next.expectNothingLeft(pid);
});

function slow(initialMs: number) {
  return { initialMs, factor: 2, maxMs: 30_000, jitter: 0 };
}
