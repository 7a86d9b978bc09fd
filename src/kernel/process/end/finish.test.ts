import { describe, expect, test } from "vitest";
import type { ProcessEvent } from "../../../abi/events.ts";
import { EXIT } from "../../../abi/process.ts";
import { LIMITS } from "../../limits.ts";
import { testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

describe("finish()", () => {
  test("the exit is synced before anyone hears of it", async () => {
    const t = testKernel();
    const { proc, end } = await t.start();
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    end();
    await t.clock.advance(0);
    expect(proc.state).toBe("running");
    gate.resolve();
    await proc.done.promise;
    expect(t.journal.kinds(proc.pid).at(-1)).toBe("process.exited");
  });

  test("a disk that refuses keeps nobody alive, and is logged", async () => {
    const t = testKernel();
    const { proc, end } = await t.start();
    t.journal.refused.add("process.exited");
    end();
    expect(await proc.done.promise).toEqual(EXIT.completed);
    expect(t.logs).toEqual([
      "error: pid 1: its exit could not be journalled: [UNAVAILABLE] the disk is full",
    ]);
  });

  test("an exit that the disk refused is on record once the disk takes it again", async () => {
    const t = testKernel();
    const { proc, end } = await t.start();
    t.journal.refused.add("process.exited");
    end();
    await proc.done.promise;
    t.journal.refused.clear();
    await t.journal.sync();
    expect(await t.journal.unfinished()).toEqual([]);
    expect(t.journal.bodies("process.exited")).toMatchObject([{ code: 0, reason: "completed" }]);
  });

  test("its record stays below 1 MiB whatever the result is", async () => {
    const t = testKernel();
    const { proc, end, sys } = await t.start();
    sys.setResult("語\u0000".repeat(450_000));
    const err = new Error("é".repeat(2_000_000));
    end({ code: 1, reason: err.message, kind: "fault", err });
    await proc.done.promise;
    const [body] = t.journal.bodies("process.exited");
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(1_000_000);
    expect(String(Object(body).result).length).toBe(150_000);
  });

  test("a result that fits is kept whole", async () => {
    const t = testKernel();
    const { proc, end, sys } = await t.start();
    const result = "x".repeat(890_000);
    sys.setResult(result);
    end();
    await proc.done.promise;
    expect(t.journal.bodies("process.exited")[0]).toMatchObject({ result, code: 0, tokensUsed: 0 });
  });

  test("watchers hear error, then complete, then the end", async () => {
    const t = testKernel();
    t.programs.set("a", async () => ({
      code: 1,
      reason: "driver is gone",
      kind: "fault",
      err: new Error("gone"),
    }));
    const { events } = await t.kernel.spawnWatched("a", null, {});
    const heard: ProcessEvent[] = await Array.fromAsync(events);
    expect(heard.map((e) => e.event)).toEqual(["spawn", "error", "complete"]);
    expect(heard[1]).toMatchObject({ message: "gone" });
    expect(heard[2]).toMatchObject({ exit: { code: 1 } });
  });
});

describe("what ends with its parent", () => {
  const children = async () => {
    const t = testKernel();
    const top = await t.start();
    const owner = await t.start({ by: top.sys });
    const opts = { by: owner.sys, onParentExit: "terminate" } as const;
    return { t, owner, bound: await t.start(opts), deaf: await t.start({ ...opts, stubborn: true }) };
  };

  test("does so at its exit, however long nobody reaps that: TERM, then KILL after 5 s", async () => {
    const { t, owner, bound, deaf } = await children();
    owner.end();
    await settle();
    expect([owner.proc.state, bound.proc.state, deaf.proc.state]).toEqual(["zombie", "zombie", "running"]);
    await t.clock.advance(LIMITS.orphanGraceMs);
    expect(deaf.proc.exit).toEqual(EXIT.sigkill);
    expect(t.journal.kinds(bound.pid).filter((kind) => kind === "signal").length).toBe(1);
  });

  test("is told once, also when its parent is reaped meanwhile", async () => {
    const { t, owner, deaf } = await children();
    const ended = t.init.wait(owner.pid);
    owner.end();
    await ended;
    expect(deaf.proc.ppid).toBe(0);
    await t.clock.advance(LIMITS.orphanGraceMs);
    const told = t.journal.kinds(deaf.pid).filter((kind) => kind === "signal");
    expect([told.length, deaf.proc.exit]).toEqual([1, EXIT.sigkill]);
  });
});
