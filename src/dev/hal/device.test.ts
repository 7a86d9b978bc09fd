import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DeviceRecord } from "../../abi/methods/ipc/device.ts";
import type { Syscalls } from "../../abi/sys.ts";
import type { ClaimWish, HalClaim } from "../../kernel/ports/hal.ts";

import { DENY } from "../../kernel/testing/scripted-permit.ts";
import { agentFile, bytes, testKernel, text } from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { deviceContract } from "../contract.ts";
import { callerIn, tempFolder } from "../testing.ts";
import { halDevice } from "./device.ts";
import { fenced } from "./fenced.ts";
import { folderDriver } from "./folder.ts";
import { framesDriver } from "./frames.ts";
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

  it("32 of one owner also where they are made at once", async () => {
    const { claim } = bench();
    const all = await Promise.allSettled(Array.from({ length: 40 }, () => claim({ mode: "shared" })));
    const refused = all.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
    expect([all.length - refused.length, refused[0]]).toEqual([
      32,
      expect.stringContaining("too many claims (32)"),
    ]);
    // those refused have left no place behind
    await expect(claim({ mode: "shared", owner: "another" })).resolves.toBeDefined();
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

const never = new AbortController().signal;

describe("a device of the settings", () => {
  it("frames: the newest in its time, what was missed is counted, and a short read gets the rest", async () => {
    const { t, hal } = bench();
    const path = join(tempFolder(), "frames.raw");
    writeFileSync(path, "aaaabbbbccccd");
    const camera = { id: "cam0", path, frameBytes: 4, everyMs: 40 };
    hal.add(fenced(framesDriver(camera, t.clock)));
    const channel = await hal.driverOf("cam0").open(1, false);
    const next = async (length = 4) => {
      const { data, dropped } = await channel.read(length, { isStream: true }, never);
      return `${text(data)} ${dropped}`;
    };
    expect([await next(3), await next()]).toEqual(["aaa 0", "a 0"]);
    const waiting = next();
    await t.clock.advance(40);
    expect(await waiting).toBe("bbbb 0");
    await t.clock.advance(40 * 5);
    expect(await next()).toBe("aaaa 16");
    expect(hal.list().find(({ id }) => id === "cam0")?.meta).toMatchObject({ droppedFrames: 4 });
    writeFileSync(path, "abc");
    await t.clock.advance(40);
    await expect(next()).rejects.toMatchObject({ code: "DRIVER" });
    await channel.close();
  });

  it("folder: a line for each change", async () => {
    const { t, hal } = bench();
    const path = join(tempFolder(), "inbox");
    mkdirSync(path);
    hal.add(fenced(folderDriver({ id: "inbox", path }, t.clock)));
    const wish = hal.wish("inbox", { mode: "shared", owner: 1, ttlMs: 1_000_000, waitMs: 0 });
    t.kernel.mount("/dev/hal/inbox", halDevice(hal, hal.driverOf("inbox")));
    await t.init.open(wish.path, 0);
    const claim = wish.made() as HalClaim;
    writeFileSync(join(path, "a.txt"), "x");
    const { data } = await claim.read(65_536, never);
    const [line = ""] = text(data).split("\n");
    expect(JSON.parse(line)).toMatchObject({ at: expect.any(Number), event: "rename", name: "a.txt" });
    await claim.end("released");
  });

  it("is gone with its source, which ends its claims, and comes back with it; both are told", async () => {
    const { t, hal } = bench();
    const path = join(tempFolder(), "inbox");
    mkdirSync(path);
    hal.add(fenced(folderDriver({ id: "inbox", path }, t.clock)));
    t.kernel.mount("/dev/hal/inbox", halDevice(hal, hal.driverOf("inbox")));
    const state = () => hal.list().find(({ id }) => id === "inbox")?.state;
    const told = () =>
      t.journal
        .bodies("event")
        .map((body) => body as { event: string; data: { cause?: string; state?: string } })
        .map(({ event, data }) => `${event} ${data.cause ?? data.state}`);
    await t.init.open("/dev/hal/inbox", 0);
    rmSync(path, { recursive: true });
    await t.clock.advance(1_000);
    expect(state()).toBe("gone");
    await expect(t.init.open("/dev/hal/inbox", 0)).rejects.toMatchObject({ code: "NOT_FOUND" });
    mkdirSync(path);
    await t.clock.advance(1_000);
    expect(state()).toBe("free");
    await t.init.close(await t.init.open("/dev/hal/inbox", 0));
    expect(told()).toEqual([
      "device.claimed claim",
      "device.released gone",
      "device.gone gone",
      "device.added free",
      "device.claimed claim",
      "device.released released",
    ]);
    hal.driverOf("inbox").close?.();
  });

  it("whose source is missing at the start is gone, and told when it appears", async () => {
    const { t, hal } = bench();
    const path = join(tempFolder(), "frames.raw");
    hal.add(framesDriver({ id: "cam0", path, frameBytes: 1, everyMs: 40 }, t.clock));
    expect(hal.list().find(({ id }) => id === "cam0")?.state).toBe("gone");
    writeFileSync(path, "a");
    await t.clock.advance(1_000);
    expect(hal.list().find(({ id }) => id === "cam0")?.state).toBe("free");
    hal.driverOf("cam0").close?.();
  });
});
