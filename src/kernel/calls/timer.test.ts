import { describe, expect, test } from "vitest";
import { SIGNALS } from "../../abi/process.ts";
import { bytes, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

describe("Sleep()", () => {
  test("ends with its time, and shows waiting until then", async () => {
    const t = testKernel();
    const proc = await t.start();
    const slept = proc.sys.sleep(1_000);
    await settle(2);
    expect((await t.init.listProcs())[0]?.activity).toBe("waiting");
    await t.clock.advance(1_000);
    expect(await slept).toBe("timer");
    expect(t.clock.pending).toBe(0);
  });

  test("a message wakes it and stays; one that is there already does so at once", async () => {
    const t = testKernel();
    const proc = await t.start();
    const slept = proc.sys.sleep(60_000);
    await t.init.send(proc.pid, bytes("look"));
    expect(await slept).toBe("message");
    expect(await proc.sys.sleep(60_000)).toBe("message");
    expect(new TextDecoder().decode((await proc.sys.recv({ timeoutMs: 0 })).data)).toBe("look");
  });

  test("a signal that is heeded wakes it, one that ends the process is CANCELLED", async () => {
    const t = testKernel();
    const proc = await t.start();
    await proc.sys.sigHandle(SIGNALS.SIGINT, () => {});
    const slept = proc.sys.sleep(60_000);
    await settle(2);
    await t.init.signal(proc.pid, SIGNALS.SIGINT);
    expect(await slept).toBe("signal");
    const ended = proc.sys.sleep(60_000);
    const refused = expect(ended).rejects.toMatchObject({ code: "CANCELLED" });
    await settle(2);
    await t.init.signal(proc.pid, SIGNALS.SIGTERM);
    await refused;
    proc.end();
  });

  test("an hour is the longest; a process that is not seen is NOT_FOUND", async () => {
    const t = testKernel();
    const [proc, other] = [await t.start(), await t.start()];
    await expect(proc.sys.sleep(3_600_001)).rejects.toMatchObject({ code: "INVALID" });
    await expect(proc.sys.sleep(1, undefined, { pid: other.pid })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});
