import { describe, expect, test } from "vitest";
import { ContextError, codeOf, DriverError, printed, SyscallError, VfsError } from "../../abi/errors.ts";
import { asCtxId, asPid } from "../../abi/ids.ts";
import { Redactor } from "../../lib/redact/redact.ts";
import { ByteDevice, brokenDevice, MessageDevice } from "../testing/fake-devices.ts";
import { bytes, testKernel } from "../testing/test-kernel.ts";

const pid = asPid(1);
const claude = "/dev/llm/claude";

describe("printed()", () => {
  test.each([
    [
      new SyscallError({
        syscall: "Spawn",
        pid,
        device: claude,
        code: "TIMEOUT",
        message: "context deadline exceeded",
      }),
      "[TIMEOUT] PID 1 Spawn: /dev/llm/claude (context deadline exceeded)",
    ],
    [
      new VfsError({
        op: "Open",
        pid,
        device: "/dev/unknown",
        code: "NOT_FOUND",
        message: "device not found: /dev/unknown",
      }),
      "[NOT_FOUND] PID 1 Open: /dev/unknown (device not found: /dev/unknown)",
    ],
    [
      new DriverError({ op: "Write", device: claude, code: "DRIVER", message: "exec: command not found" }),
      "[DRIVER] Write: /dev/llm/claude (exec: command not found)",
    ],
    [
      new ContextError({ op: "CtxFree", cid: asCtxId(1), code: "NOT_FOUND", message: "context not found" }),
      "[NOT_FOUND] CtxID 1 CtxFree: context not found",
    ],
  ])("%#", (error, line) => {
    expect(printed(error)).toBe(line);
  });
});

describe("a device's error", () => {
  const broken = new DriverError({ op: "Write", code: "UNAVAILABLE", message: "full", hint: "wait" });

  test("keeps its code, words and hint through the file call", async () => {
    const t = testKernel();
    const device = new MessageDevice();
    device.script.act = () => Promise.reject(broken);
    t.kernel.mount("/dev/m", device);
    const { sys } = await t.start();
    const fd = await sys.open("/dev/m", 2);
    const error = await sys.write(fd, bytes("x")).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(VfsError);
    expect(error).toMatchObject({ cause: broken, hint: "wait", op: "Write", pid: 1 });
    expect(printed(error)).toBe("[UNAVAILABLE] PID 1 Write: /dev/m (full)");
  });

  test("has no secret in its words, whatever the device echoed", async () => {
    const redactor = new Redactor(new Uint8Array(32));
    redactor.learn(["planted-0815"]);
    const t = testKernel({ redactor });
    const echo = { op: "Write", code: "DRIVER", message: "bad token planted-0815", hint: "not planted-0815" };
    t.kernel.mount("/dev/broken", brokenDevice(new DriverError({ ...echo, code: "DRIVER" })));
    const { sys } = await t.start();
    const error = await sys.open("/dev/broken", 0).catch((e: unknown) => e);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^bad token \[redacted:known:[0-9a-f]{6}\]$/),
      hint: expect.stringMatching(/^not \[redacted:/),
    });
  });

  test("and through two layers: spawn over open", async () => {
    const t = testKernel({ models: { resolve: async () => ({ device: "/dev/broken", model: "" }) } });
    t.kernel.mount("/dev/broken", brokenDevice(broken));
    const error = await t.init.spawn("a", null).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(SyscallError);
    const { cause } = error as SyscallError;
    expect(cause).toBeInstanceOf(VfsError);
    expect((cause as VfsError).cause).toBe(broken);
    expect([codeOf(error), (error as SyscallError).hint]).toEqual(["UNAVAILABLE", "wait"]);
    expect(printed(error)).toBe("[UNAVAILABLE] PID 1 Spawn: /dev/broken (full)");
  });

  test("in plan(), stat(), openEffects() and a throw without a promise is wrapped alike", async () => {
    const t = testKernel();
    const fails = (): never => {
      throw broken;
    };
    const device = new ByteDevice();
    t.kernel.mount("/dev/effects", { ...brokenDevice(), openEffects: fails });
    t.kernel.mount("/dev/throws", { ...brokenDevice(), open: fails });
    t.kernel.mount("/dev/stat", { ...brokenDevice(), stat: fails });
    t.kernel.mount("/dev/plan", {
      name: "plan",
      traffic: "byte",
      open: async (subpath) => ({ ...(await device.open(subpath)), plan: fails }),
    });
    const { sys } = await t.start();
    const fd = await sys.open("/dev/plan", 2);
    const calls = [
      () => sys.open("/dev/effects", 0),
      () => sys.open("/dev/throws", 0),
      () => sys.stat("/dev/stat"),
      () => sys.write(fd, bytes("x")),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ pid: 1, code: "UNAVAILABLE", cause: broken });
  });
});
