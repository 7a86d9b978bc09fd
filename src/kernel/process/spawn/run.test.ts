import { describe, expect, test } from "vitest";
import { asFd, asPid } from "../../../abi/ids.ts";
import { EXIT, type ExitStatus } from "../../../abi/process.ts";
import { ByteDevice } from "../../testing/fake-devices.ts";
import { NOTHING_LEFT, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

describe("a program", () => {
  test("that throws ends as unexpected exit, with the error, in the log", async () => {
    const t = testKernel({ program: () => Promise.reject(new Error("bug")) });
    const pid = await t.init.spawn("a", null);
    expect(await t.init.wait(pid)).toMatchObject({
      code: 1,
      reason: "unexpected exit",
      kind: "fault",
      err: { message: "bug" },
    });
    expect(t.logs[0]).toContain("pid 1: the program failed: Error: bug");
  });

  test("killed while it waits for its turn has not begun, and nothing of it is on the tape", async () => {
    const turn = Promise.withResolvers<void>();
    let begun = 0;
    const t = testKernel({
      starts: { next: () => turn.promise, hold: () => () => {} },
      program: async () => {
        begun++;
        return EXIT.completed;
      },
    });
    const [killed, other] = [await t.init.spawn("a", null), await t.init.spawn("b", null)];
    await t.init.kill(killed, 2);
    turn.resolve();
    expect([await t.init.wait(killed), await t.init.wait(other)]).toMatchObject([{ code: 137 }, { code: 0 }]);
    expect(begun).toBe(1);
    const kinds = t.journal.records.filter(({ pid, kind }) => pid === killed && kind === "call.read");
    expect(kinds).toEqual([]);
  });

  test("lets others begin once its record is synced, if a client has started it", async () => {
    let holds = 0;
    const hold = () => {
      holds++;
      return () => void holds--;
    };
    const t = testKernel({ starts: { next: async () => {}, hold } });
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    const spawned = ["a", "b"].map((intent) => t.init.spawn(intent, null));
    await settle();
    expect(holds).toBe(2);
    gate.resolve();
    await Promise.all(spawned);
    t.journal.refused.add("process.spawned");
    await expect(t.init.spawn("c", null)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(holds).toBe(0);
  });

  test("that throws before it waits, or returns nothing, ends so too", async () => {
    const t = testKernel();
    t.programs.set("throws", () => {
      throw new Error("bug");
    });
    t.programs.set("nothing", async () => undefined as unknown as ExitStatus);
    const { init } = t;
    expect((await init.wait(await init.spawn("throws", null))).reason).toBe("unexpected exit");
    // The table of the test answers for a program that gave nothing: so through the port itself.
    const bare = testKernel({ program: async () => undefined as unknown as ExitStatus });
    expect(await bare.init.wait(await bare.init.spawn("nothing", null))).toEqual(EXIT.unexpected);
  });

  test("has all its fds closed at its end, in reverse order, and opens none after it", async () => {
    const t = testKernel();
    const device = new ByteDevice();
    t.kernel.mount("/dev/bytes", device);
    const { sys, proc, end } = await t.start();
    for (const name of ["a", "b", "c"]) await sys.open(`/dev/bytes/${name}`, 0);
    end();
    const late = expect(sys.open("/dev/bytes/late", 0)).rejects.toMatchObject({ code: "CANCELLED" });
    await proc.done.promise;
    await late;
    await expect(sys.open("/dev/bytes/later", 0)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    expect(device.closed.filter((name) => name !== "/late")).toEqual(["/c", "/b", "/a"]);
    expect([device.live, proc.fds.size, t.model.live]).toEqual([0, 0, 0]);
  });

  test("is refused every call while its files are being closed", async () => {
    const t = testKernel();
    const { sys, proc, end } = await t.start();
    const gate = Promise.withResolvers<void>();
    t.model.script.close = () => gate.promise;
    end();
    await settle();
    expect(proc.state).toBe("running");
    await expect(sys.spawn("late", null)).rejects.toMatchObject({ code: "CANCELLED" });
    gate.resolve();
    await proc.done.promise;
  });

  test("that ends ends the calls it has left behind", async () => {
    const t = testKernel();
    const { sys, proc, end } = await t.start();
    const child = await t.start({ by: sys });
    const waited = expect(sys.wait(child.pid)).rejects.toMatchObject({ code: "CANCELLED" });
    end();
    await waited;
    expect(child.proc.state).toBe("running");
    await proc.done.promise;
  });

  test("is not aborted while its files are closed: that is no abort", async () => {
    const t = testKernel();
    const { proc, end } = await t.start();
    let aborted: boolean | undefined;
    t.model.script.close = async () => {
      aborted = proc.abort.signal.aborted;
    };
    end();
    await proc.done.promise;
    expect(aborted).toBe(false);
    expect(proc.abort.signal.aborted).toBe(true);
  });

  test("says nothing any more once it has ended", async () => {
    const t = testKernel();
    const { proc, end, sys } = await t.start();
    sys.setResult("first");
    end();
    await proc.done.promise;
    sys.setResult("late");
    sys.setActivity("tool");
    sys.onStep(9);
    expect(t.kernel.info(proc)).toMatchObject({ result: "first", activity: null });
  });
});

describe("exit()", () => {
  test("ends the process with its code; the call never returns", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    await expect(sys.exit(7, "enough")).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await t.init.wait(pid)).toEqual({ code: 7, reason: "enough", kind: "done" });
  });

  test.each([-1, 256, 0.5])("%d is INVALID", async (code) => {
    const t = testKernel();
    const { sys, proc } = await t.start();
    await expect(sys.exit(code)).rejects.toMatchObject({ code: "INVALID" });
    expect(proc.state).toBe("running");
  });

  test("of pid 0 is PERMISSION", async () => {
    await expect(testKernel().init.exit(0)).rejects.toMatchObject({ code: "PERMISSION" });
  });

  test("that the program does not heed is forced after 10 s, with its own status", async () => {
    const t = testKernel();
    const { sys, proc } = await t.start({ stubborn: true });
    await expect(sys.exit(3)).rejects.toMatchObject({ code: "CANCELLED" });
    await t.clock.advance(10_000);
    expect(proc.exit).toMatchObject({ code: 3, reason: "exit 3" });
  });
});

describe("timeoutMs", () => {
  test("ends the process, with TIMEOUT", async () => {
    const t = testKernel();
    const { proc, pid } = await t.start({ timeoutMs: 500 });
    await t.clock.advance(499);
    expect(proc.state).toBe("running");
    await t.clock.advance(1);
    expect(await t.init.wait(pid)).toMatchObject({
      code: 1,
      reason: "timeout",
      kind: "done",
      err: { code: "TIMEOUT" },
    });
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("longer than a timer takes is waited for in parts", async () => {
    const t = testKernel();
    const asked: number[] = [];
    const { sleep } = t.clock;
    t.clock.sleep = (ms, signal) => {
      asked.push(ms);
      return sleep.call(t.clock, ms, signal);
    };
    const { proc } = await t.start({ timeoutMs: 2 ** 32 });
    await t.clock.advance(2 ** 32 - 1);
    expect(proc.state).toBe("running");
    await t.clock.advance(1);
    expect(proc.exit?.reason).toBe("timeout");
    expect(Math.max(...asked)).toBeLessThan(2 ** 31);
  });

  test("does not count pauses", async () => {
    const t = testKernel();
    const { proc, pid } = await t.start({ timeoutMs: 500 });
    await t.clock.advance(100);
    await t.init.kill(pid, 4);
    await t.clock.advance(2_000);
    await t.init.kill(pid, 5);
    await t.clock.advance(399);
    expect(proc.state).toBe("running");
    await t.clock.advance(1);
    expect(proc.exit?.reason).toBe("timeout");
  });

  test.each([true, false])(
    "does not count a pause from before the start, resumed there: %s",
    async (resumed) => {
      const t = testKernel();
      const gate = Promise.withResolvers<void>();
      t.journal.gate = gate.promise;
      const started = t.start({ timeoutMs: 500 });
      await settle();
      const told = [t.init.kill(asPid(1), 4)];
      await t.clock.advance(2_000);
      if (resumed) told.push(t.init.kill(asPid(1), 5));
      await t.clock.advance(1_000);
      gate.resolve();
      await Promise.all(told);
      await t.clock.advance(100);
      await t.init.kill(asPid(1), 5);
      const { proc } = await started;
      await t.clock.advance(resumed ? 399 : 499);
      expect(proc.state).toBe("running");
      await t.clock.advance(1);
      expect(proc.exit?.reason).toBe("timeout");
    },
  );

  test("that is not heeded is forced after 10 s, and stays a timeout", async () => {
    const t = testKernel();
    const { proc } = await t.start({ timeoutMs: 500, stubborn: true });
    await t.clock.advance(10_499);
    expect(proc.state).toBe("running");
    await t.clock.advance(1);
    expect(proc.exit?.reason).toBe("timeout");
  });

  test("calls it ends are CANCELLED", async () => {
    const t = testKernel();
    const { sys } = await t.start({ timeoutMs: 5 });
    t.model.script.act = (_data, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const call = expect(sys.write(asFd(3), new Uint8Array(1))).rejects.toMatchObject({ code: "CANCELLED" });
    await t.clock.advance(5);
    await call;
  });
});
