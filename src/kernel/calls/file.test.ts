/** Open, Read, Write, Close and Stat, as a program meets them. */
import { describe, expect, test } from "vitest";
import type { Covers } from "../../abi/device.ts";
import { asFd } from "../../abi/ids.ts";
import { Redactor } from "../../lib/redact/redact.ts";
import { LIMITS } from "../limits.ts";
import { infoOf } from "../process/process-info.ts";
import { ByteDevice, brokenDevice, MessageDevice } from "../testing/fake-devices.ts";
import { DENY } from "../testing/scripted-permit.ts";
import { bytes, testKernel, text } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

async function bench() {
  const t = testKernel();
  const [device, message] = [new ByteDevice(), new MessageDevice("fs")];
  t.kernel.mount("/dev/bytes", device);
  t.kernel.mount("/dev/m", message);
  return { t, device, message, ...(await t.start()) };
}

describe("files", () => {
  test("what is written is read, piece by piece, to the end", async () => {
    const { sys } = await bench();
    const fd = await sys.open("/dev/bytes/a", 2);
    await sys.write(fd, bytes("hello"));
    const pieces: string[] = [];
    for (;;) {
      const piece = text(await sys.read(fd, 2));
      pieces.push(piece);
      if (piece === "") break;
    }
    expect(pieces).toEqual(["he", "ll", "o", ""]);
    expect(await sys.stat("/dev/bytes/a")).toMatchObject({ size: 5, devicePath: "/dev/bytes" });
  });

  test("what a call of a tool prints goes to clients that follow closely, without secrets, its last characters; its tool is in the lists", async () => {
    const redactor = new Redactor(new Uint8Array(32));
    redactor.learn(["planted-0815"]);
    const t = testKernel({ redactor });
    const device = new MessageDevice("bin");
    const tools: (string | undefined)[] = [];
    device.script.act = async (_data, { printed }) => {
      tools.push(infoOf(proc, new Set(), 0).tool);
      printed?.("one\n");
      printed?.(`${"x".repeat(LIMITS.printedChars)} planted-0815\n`);
    };
    t.kernel.mount("/bin", device);
    const { sys, proc } = await t.start();
    const events = proc.watchers.watch(undefined, "deltas");
    const fd = await sys.open("/bin/bash", 2);
    await sys.write(fd, bytes("{}"));
    expect([...tools, infoOf(proc, new Set(), 0).tool]).toEqual(["bash", undefined]);
    proc.watchers.end();
    const heard = (await Array.fromAsync(events)).filter((each) => each.event === "output");
    expect(heard.map(({ call, output }) => [call.tool, output.length])).toEqual([
      ["bash", 4],
      ["bash", LIMITS.printedChars],
    ]);
    expect(heard[1]?.output).not.toContain("planted");
  });

  test("a device hears whether the place where it is about to act is the permitted one", async () => {
    const { t, sys } = await bench();
    const asked: (Covers | undefined)[] = [];
    const effect = { kind: "read", path: "/w/a" } as const;
    t.kernel.mount("/dev/places", {
      ...{ name: "places", traffic: "byte", openEffects: () => [effect], statEffects: () => [effect] },
      open: async (_subpath, _flags, caller) => {
        asked.push(caller.covers);
        return {
          plan: () => ({ effects: [effect], effectClass: "none" }),
          read: async () => new Uint8Array(),
          write: async (_data, act) => void asked.push(act.covers),
          close: async () => {},
          stat: async () => ({ name: "a", size: 0, isDevice: false, devicePath: "/dev/places" }),
        };
      },
      stat: async (_subpath, caller) => {
        asked.push(caller.covers);
        return { name: "a", size: 0, isDevice: false, devicePath: "/dev/places" };
      },
    });
    const fd = await sys.open("/dev/places", 2);
    await sys.write(fd, bytes("x"));
    await sys.stat("/dev/places");
    const at = (real: string) => asked.map((covers) => covers?.({ ...effect, real }));
    expect([at("/w/a"), at("/etc/a")]).toEqual([
      [true, true, true],
      [false, false, false],
    ]);
  });

  test("open() with a flag that is none is INVALID", async () => {
    const { sys } = await bench();
    await expect(sys.open("/dev/bytes", 3 as 2)).rejects.toMatchObject({ code: "INVALID" });
  });

  test("a call the file was not opened for is INVALID", async () => {
    const { sys, message } = await bench();
    const [reader, writer] = [await sys.open("/dev/m", 0), await sys.open("/dev/m", 1)];
    await expect(sys.write(reader, bytes("x"))).rejects.toMatchObject({ code: "INVALID" });
    await expect(sys.read(writer, 1)).rejects.toMatchObject({ code: "INVALID" });
    expect(message.written).toEqual([]);
  });

  test.each([0, -1, 1.5, LIMITS.readBytes + 1, Number.NaN])(
    "read() of %d bytes is INVALID",
    async (length) => {
      const { sys } = await bench();
      const fd = await sys.open("/dev/bytes", 0);
      await expect(sys.read(fd, length)).rejects.toMatchObject({ code: "INVALID" });
    },
  );

  test("write() of more than 10 MiB is INVALID", async () => {
    const { sys, device } = await bench();
    const fd = await sys.open("/dev/bytes", 1);
    await expect(sys.write(fd, new Uint8Array(LIMITS.writeBytes + 1))).rejects.toMatchObject({
      code: "INVALID",
    });
    expect(device.files.size).toBe(0);
  });

  test.each([
    ["bytes", (text: string) => bytes(text)],
    ["a Buffer", (text: string) => Buffer.from(text)],
  ])(
    "write() hands over what was permitted, whatever the caller makes of %s meanwhile",
    async (_name, of) => {
      const { sys, message } = await bench();
      const given = of("permitted");
      message.script.act = async () => void given.fill(0x78);
      await sys.write(await sys.open("/dev/m", 1), given);
      expect(message.written).toEqual(["permitted"]);
    },
  );

  test("an fd that is not open is NOT_FOUND", async () => {
    const { sys } = await bench();
    for (const fd of [0, 4, -1, 3.5])
      await expect(sys.read(asFd(fd), 1)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("stat() of a device without one names it", async () => {
    const { sys, t } = await bench();
    t.kernel.mount("/dev/broken", brokenDevice());
    expect(await sys.stat("/dev/broken")).toEqual({
      name: "broken",
      size: 0,
      isDevice: true,
      devicePath: "/dev/broken",
    });
  });

  test("a caller that gives up opening is CANCELLED, and the late file is closed", async () => {
    const { sys, message, proc } = await bench();
    const gate = Promise.withResolvers<void>();
    message.script.open = () => gate.promise;
    const stop = new AbortController();
    const open = expect(sys.open("/dev/m", 2, stop.signal)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    stop.abort();
    await open;
    gate.resolve();
    await settle();
    expect([message.live, proc.fds.size]).toEqual([0, 1]);
  });
});

describe("open() with effects", () => {
  const create = { kind: "write", path: "/desk/a", change: "create" } as const;

  test("passes the guard under the device's name", async () => {
    const { sys, message, t } = await bench();
    message.script.openEffects = [create];
    await sys.open("/dev/m", 1);
    expect(t.permit.asked.map(({ request }) => request.tool)).toEqual(["fs"]);
    expect(t.journal.bodies("call.intent")).toMatchObject([{ tool: "fs", device: "/dev/m", class: "probe" }]);
  });

  test("that only read is permitted, not journalled", async () => {
    const { sys, message, t } = await bench();
    message.script.openEffects = [{ kind: "read", path: "/desk/a" }];
    await sys.open("/dev/m", 0);
    expect(t.permit.asked).toHaveLength(1);
    expect(t.journal.kinds()).not.toContain("call.intent");
  });

  test("refused opens nothing", async () => {
    const { sys, message, t, proc } = await bench();
    message.script.openEffects = [create];
    t.permit.answer = () => DENY;
    await expect(sys.open("/dev/m", 1)).rejects.toMatchObject({ code: "PERMISSION", syscall: "Open" });
    expect([message.live, proc.fds.size]).toEqual([0, 1]);
  });
});

test("stat() that shows the world passes the guard, and is not journalled", async () => {
  const { sys, t, device } = await bench();
  const shows = Object.assign(new ByteDevice(), {
    statEffects: () => [{ kind: "read", path: "/desk/a" }] as const,
    stat: device.stat.bind(device),
  });
  t.kernel.mount("/dev/world", shows);
  expect(await sys.stat("/dev/world")).toMatchObject({ devicePath: "/dev/world" });
  expect(t.permit.asked.map(({ request }) => request.effects)).toMatchObject([[{ path: "/desk/a" }]]);
  expect(t.journal.kinds()).not.toContain("call.intent");
  t.permit.answer = () => DENY;
  await expect(sys.stat("/dev/world")).rejects.toMatchObject({ code: "PERMISSION", syscall: "Stat" });
});

describe("the tool line", () => {
  test("is told at the first read after a write, for programs alone", async () => {
    const t = testKernel();
    for (const mount of ["/bin/ls", "/dev/m"]) t.kernel.mount(mount, new MessageDevice());
    t.programs.set("a", async (sys) => {
      for (const path of ["/dev/m", "/bin/ls"]) {
        const fd = await sys.open(path, 2);
        await sys.write(fd, bytes("list"));
        await sys.read(fd, 64);
        await sys.read(fd, 64);
      }
      return { code: 0, reason: "completed", kind: "done" };
    });
    const { events } = await t.kernel.spawnWatched("a", null, {});
    const heard = await Array.fromAsync(events);
    expect(heard.filter((e) => e.event === "tool")).toEqual([
      { event: "tool", pid: 1, device: "/bin/ls", inBytes: 4, outBytes: 4, durationMs: 0 },
    ]);
  });
});

describe("the note of a call", () => {
  async function notes(message: MessageDevice, prepare: (t: ReturnType<typeof testKernel>) => void) {
    const t = testKernel();
    prepare(t);
    t.kernel.mount("/bin/ls", message);
    t.programs.set("a", async (sys) => {
      const fd = await sys.open("/bin/ls", 2);
      await sys.write(fd, bytes("list")).catch(() => {});
      return { code: 0, reason: "completed", kind: "done" };
    });
    const { events } = await t.kernel.spawnWatched("a", null, {});
    return (await Array.fromAsync(events)).flatMap((e) => (e.event === "call" ? [e.call] : []));
  }
  const plan = { effects: [{ kind: "read", path: "/desk/a" }], effectClass: "none", about: "a" } as const;

  test("has what the plan and the file say of it", async () => {
    const message = new MessageDevice();
    message.script.plan = plan;
    message.script.ending = () => ({ facts: { exit: 1 } });
    expect(await notes(message, () => {})).toEqual([{ tool: "ls", about: "a", facts: { exit: 1 } }]);
  });

  test("is told of a call that is refused, and of one that fails, by its first line", async () => {
    const message = new MessageDevice();
    message.script.plan = plan;
    expect(await notes(message, (t) => (t.permit.answer = () => DENY))).toEqual([
      { tool: "ls", about: "a", error: "Permission denied: rule test", refused: true },
    ]);
    message.script.act = async () => {
      throw new Error("gone\nfor good");
    };
    expect(await notes(message, () => {})).toEqual([{ tool: "ls", about: "a", error: "gone" }]);
  });
});
