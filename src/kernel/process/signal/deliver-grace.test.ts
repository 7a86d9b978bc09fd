/** TERM that must be the end: whatever a process does about it, KILL follows. */
import { describe, expect, test } from "vitest";
import { asPid } from "../../../abi/ids.ts";
import { EXIT } from "../../../abi/process.ts";
import { NOTHING_LEFT, type Started, type TestKernel, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

describe("TERM with a grace", () => {
  const insist = (t: TestKernel, { proc }: Started) => t.kernel.deliver(proc, 1, 2_000);

  test.each([
    ["handled", "handler", (s: Started) => s.sys.sigHandle(1, () => {})],
    ["slowly handled", "handler", (s: Started) => s.sys.sigHandle(1, () => new Promise(() => {}))],
    ["ignored", "ignored", (s: Started) => s.sys.sigHandle(1, "ignore")],
    ["blocked", "pending", (s: Started) => s.sys.sigBlock(s.pid, 1)],
    ["not heeded", "default", async () => {}],
  ] as const)("that is %s becomes KILL after it", async (_how, met, prepare) => {
    const t = testKernel();
    const started = await t.start({ stubborn: true });
    await prepare(started);
    expect(await insist(t, started)).toBe(met);
    await t.clock.advance(1_999);
    expect(started.proc.state).toBe("running");
    await t.clock.advance(1);
    expect(started.proc.exit).toEqual(EXIT.sigkill);
    expect([started.proc.abort, started.proc.killed].map(({ signal }) => signal.aborted)).toEqual([
      true,
      true,
    ]);
    const reaped = t.init.wait(started.pid);
    await t.clock.advance(5_000);
    await reaped;
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("ends one that is paused and has blocked it", async () => {
    const t = testKernel();
    const started = await t.start();
    await started.sys.sigBlock(started.pid, 1);
    await t.init.kill(started.pid, 4);
    await insist(t, started);
    await t.clock.advance(2_000);
    expect(await t.init.wait(started.pid)).toEqual(EXIT.sigkill);
  });

  test("ends one that ended by itself meanwhile by nothing more", async () => {
    const t = testKernel();
    const started = await t.start();
    await started.sys.sigHandle(1, () => started.end());
    await insist(t, started);
    expect(await t.init.wait(started.pid)).toEqual(EXIT.completed);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("of one that is still being made: it takes no step", async () => {
    const t = testKernel();
    let steps = 0;
    t.programs.set("a", async () => {
      steps++;
      return EXIT.completed;
    });
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    const spawned = t.init.spawn("a", null);
    await settle();
    await t.init.sigBlock(asPid(1), 1);
    expect(await t.kernel.deliver(t.proc(1), 1, 2_000)).toBe("pending");
    await t.clock.advance(2_000);
    gate.resolve();
    expect(await t.init.wait(await spawned)).toEqual(EXIT.sigkill);
    expect(steps).toBe(0);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("of one whose making hangs: the spawn is CANCELLED", async () => {
    const t = testKernel();
    t.model.script.open = () => new Promise(() => {});
    const spawned = expect(t.init.spawn("a", null)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await t.init.sigBlock(asPid(1), 1);
    await t.kernel.deliver(t.proc(1), 1, 2_000);
    await t.clock.advance(2_000);
    await spawned;
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("is what children that end with their parent get, blocked or not", async () => {
    const t = testKernel();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys, onParentExit: "terminate" });
    await child.sys.sigBlock(child.pid, 1);
    parent.end();
    await t.init.wait(parent.pid);
    await t.clock.advance(4_999);
    expect(child.proc.state).toBe("running");
    await t.clock.advance(1);
    expect(child.proc.exit).toEqual(EXIT.sigkill);
  });

  test("is what the shutdown does: nothing outlives the daemon", async () => {
    const t = testKernel();
    const [blocked, handled, ignored] = [await t.start(), await t.start(), await t.start()];
    await blocked.sys.sigBlock(blocked.pid, 1);
    await handled.sys.sigHandle(1, () => {});
    await ignored.sys.sigHandle(1, "ignore");
    const down = t.kernel.shutdown(3_000);
    await t.clock.advance(2_999);
    expect([blocked, handled, ignored].map(({ proc }) => proc.state)).toEqual(Array(3).fill("running"));
    await t.clock.advance(1);
    await down;
    for (const { proc } of [blocked, handled, ignored]) expect(proc.exit).toEqual(EXIT.sigkill);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});
