import { describe, expect, it } from "vitest";
import type { DeviceRecord } from "../../abi/methods/ipc/device.ts";
import type { Syscalls } from "../../abi/sys.ts";
import type { ClaimWish, HalClaim } from "../../kernel/ports/hal.ts";

import { DENY } from "../../kernel/testing/scripted-permit.ts";
import { agentFile, bytes, testKernel, text } from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { deviceContract } from "../contract.ts";
import { callerIn } from "../testing.ts";
import { halDevice } from "./device.ts";
import { fenced } from "./fenced.ts";
import { loopDriver } from "./loop.ts";
import { sampledDriver } from "./sampled.ts";

const LOOP = "virtual/loop0";

function bench() {
  const t = testKernel();
  const { hal } = t.kernel;
  let count = 0;
  const counter = sampledDriver({ id: "system/count", name: "counter" }, t.clock, () => ({ n: ++count }));
  const camera = { ...counter, identity: { ...counter.identity, id: "cam" }, isHarmless: false };
  for (const driver of [fenced(loopDriver(LOOP)), counter, camera]) {
    hal.add(driver);
    t.kernel.mount(`/dev/hal/${driver.identity.id}`, halDevice(hal, driver));
  }
  const claim = async (more: Partial<ClaimWish> = {}, sys: Syscalls = t.init): Promise<HalClaim> => {
    const wish = { mode: "exclusive", owner: 0, ttlMs: 30_000, waitMs: 0, ...more } as const;
    const { path, made } = hal.wish(LOOP, wish);
    await sys.open(path, wish.mode === "shared" ? 0 : 2);
    return made() as HalClaim;
  };
  const record = (): DeviceRecord | undefined => hal.list().find(({ id }) => id === LOOP);
  const told = () =>
    t.journal
      .bodies("event")
      .map((body) => body as { event: string; data: { cause: string; fence: number } })
      .map(({ event, data }) => `${event} ${data.cause} ${data.fence}`);
  return { t, hal, claim, record, told };
}

deviceContract("/dev/hal/<id>", async () => {
  const { hal } = bench();
  return {
    device: halDevice(hal, hal.driverOf("system/count")),
    caller: callerIn("/"),
    readable: { subpath: "", content: '{"n":1}\n' },
    refused: [
      { subpath: "/x", flags: 0, code: "NOT_FOUND" },
      { subpath: "/@none", flags: 0, code: "NOT_FOUND" },
      { subpath: "", flags: 1, code: "PERMISSION" },
    ],
  };
});

describe("a claim", () => {
  it("is an open file: in the list while it lasts, told when it begins and ends", async () => {
    const { t, record, told } = bench();
    const fd = await t.init.open("/dev/hal/virtual/loop0", 2);
    expect(record()).toMatchObject({
      state: "claimed",
      path: "/dev/hal/virtual/loop0",
      claim: { pid: 0, mode: "exclusive", expiresAt: null },
    });
    await t.init.write(fd, bytes("round"));
    expect(text(await t.init.read(fd, 3))).toBe("rou");
    expect(record()?.meta).toMatchObject({ bufferedBytes: 2, overflow: "block" });
    await t.init.close(fd);
    expect(record()).toMatchObject({ state: "free", claim: null });
    expect(told()).toEqual(["device.claimed claim 1", "device.released released 1"]);
  });

  it("alone excludes all others, who are told who has it; shared ones stand together and only read", async () => {
    const { t, claim } = bench();
    const one = await claim();
    const refused = claim({ mode: "shared" });
    await expect(refused).rejects.toMatchObject({
      code: "CONFLICT",
      cause: { details: { holder: { pid: 0, mode: "exclusive" }, expiresAt: one.expiresAt } },
    });
    await one.end("released");
    const both = [await claim({ mode: "shared" }), await claim({ mode: "shared" })];
    expect(both.map(({ fence }) => fence)).toEqual([2, 3]);
    await expect(claim()).rejects.toMatchObject({ code: "CONFLICT" });
    const write = both[0]?.write(bytes("x"), new AbortController().signal);
    await expect(write).rejects.toMatchObject({ code: "PERMISSION" });
    expect(t.kernel.hal.list()).toHaveLength(3);
  });

  it("eight who wait are served in order, one at a time, with rising fences", async () => {
    const { claim } = bench();
    const first = await claim();
    const order: number[] = [];
    const fences: number[] = [];
    const all = Array.from({ length: 8 }, async (_, n) => {
      const own = await claim({ waitMs: 60_000 });
      order.push(n);
      fences.push(own.fence);
      await own.end("released");
    });
    await settle();
    expect(order).toEqual([]);
    await first.end("released");
    await Promise.all(all);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(fences).toEqual([...fences].sort((a, b) => a - b));
    expect(new Set([first.fence, ...fences]).size).toBe(9);
  });

  it("whoever waits gives up at its time, and leaves no place behind", async () => {
    const { t, claim } = bench();
    const first = await claim({ ttlMs: Infinity });
    const late = expect(claim({ waitMs: 1_000 })).rejects.toMatchObject({ code: "CONFLICT" });
    await settle();
    await t.clock.advance(1_000);
    await late;
    await first.end("released");
    expect((await claim()).ended).toBeUndefined();
  });

  it("expires, unless it is renewed; what comes later is a CONFLICT, also at the driver", async () => {
    const { t, claim, told, hal } = bench();
    const one = await claim({ ttlMs: 2_000 });
    await t.clock.advance(1_500);
    one.renew(2_000);
    await t.clock.advance(1_500);
    expect(one.ended).toBeUndefined();
    await t.clock.advance(500);
    const late = one.write(bytes("late"), new AbortController().signal);
    await expect(late).rejects.toMatchObject({ code: "CONFLICT", message: "claim expired" });
    expect(told().at(-1)).toBe("device.released expired 1");
    const driver = hal.driverOf(LOOP);
    const [old, newer] = [await driver.open(5, true), await driver.open(6, true)];
    const { signal } = new AbortController();
    await newer.write(bytes("new"), undefined, signal);
    await expect(old.write(bytes("old"), undefined, signal)).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("ends with its process", async () => {
    const { t, claim, told, record } = bench();
    const program = await t.start();
    await claim({ owner: program.pid }, program.sys);
    expect(record()?.claim?.pid).toBe(program.pid);
    program.end();
    await t.init.wait(program.pid);
    await settle();
    expect(record()?.state).toBe("free");
    expect(told().at(-1)).toBe("device.released released 1");
  });

  it("fences rise over daemons, and a read that is given up takes nothing", async () => {
    const { t, claim } = bench();
    await t.kernel.events.publish({ event: "tool.told", data: {} });
    const own = await claim();
    expect(own.fence).toBeGreaterThan(1);
    const stop = new AbortController();
    const read = own.read(4, stop.signal);
    stop.abort();
    await expect(read).rejects.toMatchObject({ code: "CANCELLED" });
    await own.write(bytes("kept"), new AbortController().signal);
    expect(text((await own.read(4, new AbortController().signal)).data)).toBe("kept");
  });

  it("32 of one owner", async () => {
    const { claim } = bench();
    for (let n = 0; n < 32; n++) await claim({ mode: "shared" });
    await expect(claim({ mode: "shared" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect((await claim({ mode: "shared", owner: "other" })).ended).toBeUndefined();
  });
});

describe("the gate", () => {
  it("asks for an agent that opens what shows the user, and not for what is harmless", async () => {
    const { t } = bench();
    const { sys } = await t.start();
    await sys.open("/dev/hal/cam", 0);
    await sys.open("/dev/hal/system/count", 0);
    expect(t.permit.asked.map(({ request }) => request.effects)).toMatchObject([
      [{ kind: "read", path: "/dev/hal/cam" }],
      [{ kind: "state", path: "/dev/hal/system/count" }],
    ]);
    t.permit.answer = () => DENY;
    await expect(sys.open("/dev/hal/cam", 0)).rejects.toMatchObject({ code: "PERMISSION" });
  });
});

it("a process opens the devices of its list alone", async () => {
  const { t } = bench();
  const { sys } = await t.start({ agent: agentFile({ allowedDevices: ["/dev/hal/system"] }) });
  await sys.open("/dev/hal/system/count", 0);
  await expect(sys.open("/dev/hal/virtual/loop0", 0)).rejects.toMatchObject({
    code: "PERMISSION",
    message: "device not allowed: /dev/hal/virtual/loop0",
  });
});

it("a stream of what is measured brings one line a second, a read brings it at once", async () => {
  const { t, hal } = bench();
  const channel = await hal.driverOf("system/count").open(1, false);
  const { signal } = new AbortController();
  const line = async (isStream: boolean) => text((await channel.read(64, { isStream }, signal)).data);
  expect([await line(false), await line(false), await line(true)]).toEqual([
    '{"n":1}\n',
    '{"n":2}\n',
    '{"n":3}\n',
  ]);
  const next = line(true);
  await settle();
  await t.clock.advance(1_000);
  expect(await next).toBe('{"n":4}\n');
  expect(text((await channel.read(64, { offset: 1 }, signal)).data)).toBe('"n":4}\n');
});
