import { describe, expect, test } from "vitest";
import { EXIT } from "../../abi/process.ts";
import { testKernel } from "../testing/test-kernel.ts";

describe("Process", () => {
  test("start(), terminate() and reap() out of order change nothing", async () => {
    const t = testKernel();
    const { proc } = await t.start();
    expect(() => proc.start(0)).toThrow("illegal transition: running → running");
    expect(() => proc.life.bury()).toThrow("illegal transition: running → dead");
    expect(proc.state).toBe("running");
    expect(proc.exit).toBeNull();
    await t.init.kill(proc.pid, 2);
    await proc.done.promise;
    expect(() => proc.life.exited(EXIT.completed, 0)).toThrow("illegal transition: zombie → zombie");
    expect(proc.exit).toEqual(EXIT.sigkill);
  });

  test("info() is a copy", async () => {
    const t = testKernel();
    const { proc } = await t.start();
    t.kernel.info(proc).createdAt.setTime(0);
    expect(t.kernel.info(proc).createdAt.getTime()).toBe(t.clock.now());
  });

  test("info() shows what it does, paused before blocked before the rest", async () => {
    const t = testKernel();
    const { proc, pid, end, sys } = await t.start();
    sys.setActivity("tool");
    expect(t.kernel.info(proc).activity).toBe("tool");
    const answered = Promise.withResolvers<void>();
    const asking = proc.halt.asking(() => answered.promise);
    expect(t.kernel.info(proc).activity).toBe("blocked");
    await t.init.kill(pid, 4);
    expect(t.kernel.info(proc).activity).toBe("paused");
    await t.init.kill(pid, 5);
    expect(t.kernel.info(proc).activity).toBe("blocked");
    answered.resolve();
    await asking;
    expect(t.kernel.info(proc).activity).toBe("tool");
    end();
    await proc.done.promise;
    expect(t.kernel.info(proc).activity).toBeNull();
  });

  test("ranMs() leaves pauses out", async () => {
    const t = testKernel();
    const { proc, pid } = await t.start();
    await t.clock.advance(100);
    await t.init.kill(pid, 4);
    await t.clock.advance(1_000);
    await t.init.kill(pid, 4);
    expect(proc.halt.time.ms(t.clock.mono())).toBe(100);
    await t.init.kill(pid, 5);
    await t.clock.advance(10);
    expect(proc.halt.time.ms(t.clock.mono())).toBe(110);
  });

  test("elapsedMs() stops at the exit", async () => {
    const t = testKernel();
    const { proc, end } = await t.start();
    await t.clock.advance(50);
    end();
    await proc.done.promise;
    await t.clock.advance(50);
    expect(proc.elapsedMs(t.clock.mono())).toBe(50);
  });
});
