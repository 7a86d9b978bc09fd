import { describe, expect, test, vi } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { Grants } from "../../consent/grants/grants.ts";
import { MessageDevice } from "../testing/fake-devices.ts";
import { fakeExec } from "../testing/fake-exec.ts";
import { guardedBench, modify } from "../testing/guarded.ts";
import { DENY } from "../testing/scripted-permit.ts";
import { bytes } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

const COST = { tokens: 300, usd: 0.01 };
const calls = (kinds: readonly string[]): string[] => kinds.filter((kind) => kind.startsWith("call."));

describe("guard()", () => {
  test("permits, reserves, journals the intent, acts, journals the result, settles: in this order", async () => {
    const bench = await guardedBench({ contextBudget: 1_000 });
    const { t, tool, sys } = bench;
    const order: string[] = [];
    const reserved = (): number => sys.account().reserved;
    t.permit.answer = () => {
      order.push(`permit, reserved ${reserved()}`);
      return { behavior: "allow", reason: { kind: "rule", detail: "" } };
    };
    const append = vi.spyOn(t.journal, "append");
    append.mockImplementation(async function (this: typeof t.journal, drafts) {
      order.push(`${drafts[0]?.kind}, reserved ${reserved()}`);
      await settle();
      order.push("synced");
      return [];
    });
    tool.script.plan = { reserve: { tokens: 500, usd: null } };
    tool.script.charge = () => COST;
    tool.script.act = async () => void order.push("act");
    const note = vi.spyOn(t.journal, "note");
    note.mockImplementation((drafts) => {
      order.push(drafts.map(({ kind, body }) => `${kind} ${JSON.stringify(body)}`).join(" with "));
    });
    await bench.call();
    expect(order).toEqual([
      "permit, reserved 0",
      "call.intent, reserved 500",
      "synced",
      "act",
      // one note: after a crash there are both or neither
      'acct.settle {"used":300,"usd":10000} with call.result {"ok":true,"cost":{"tokens":300,"usd":0.01}}',
    ]);
    expect(sys.account()).toEqual({ limit: 1_000, used: 300, reserved: 0 });
    expect(bench.proc.used.tokens).toBe(300);
  });

  test("asks the policy with the tool's name and the real path, and journals both", async () => {
    const bench = await guardedBench(
      { cwd: "/desk" },
      { realPath: (path) => path.replace("/desk/a", "/real/a") },
    );
    await bench.call();
    const effects = [{ kind: "write", path: "/desk/a", change: "modify", real: "/real/a" }];
    expect(bench.t.permit.asked).toMatchObject([
      {
        subject: {
          pid: 1,
          mode: "default",
          cwd: "/desk",
          roots: ["/desk"],
          grants: [],
          allowedDevices: null,
        },
        request: { tool: "edit", effects },
      },
    ]);
    expect(bench.t.permit.asked[0]?.subject.free).toEqual([bench.proc.seed.scratch]);
    const body = { tool: "edit", device: "/bin/edit", class: "once", effects, input: "{}" };
    expect(bench.t.journal.bodies("call.intent")).toEqual([body]);
  });

  test("nothing acts and nothing is spent when the journal refuses", async () => {
    const bench = await guardedBench({ contextBudget: 1_000 });
    const { t, tool } = bench;
    const charge = vi.fn(() => COST);
    Object.assign(tool.script, { plan: { reserve: { tokens: 500, usd: null } }, charge });
    t.journal.refused.add("call.intent");
    await expect(bench.call()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(tool.written).toEqual([]);
    expect(charge).not.toHaveBeenCalled();
    expect(calls(t.journal.kinds())).toEqual([]);
    expect(bench.sys.account()).toEqual({ limit: 1_000, used: 0, reserved: 0 });
  });

  test.each([
    ["a model call, no limit", "/dev/llm/meter", {}, "before its sync"],
    ["a model call under a limit of its own", "/dev/llm/meter", { contextBudget: 1_000 }, "after it"],
    ["a model call under a limit in money", "/dev/llm/meter", { budget: { usd: 1 } }, "after it"],
    ["any other effect", "/bin/edit", {}, "after it"],
  ])("%s: begins only when its intent may be lost", async (_, path, opts, when) => {
    const bench = await guardedBench(opts);
    const { t, sys } = bench;
    const meter = path === "/bin/edit" ? bench.tool : new MessageDevice("meter");
    if (meter !== bench.tool) t.kernel.mount(path, meter);
    meter.script.effects = [
      meter === bench.tool ? modify("/desk/a") : { kind: "llm", device: path, maxTokens: 9 },
    ];
    meter.script.plan = { reserve: { tokens: 500, usd: 0 } };
    const fd = await sys.open(path, 2);
    const disk = Promise.withResolvers<void>();
    t.journal.gate = disk.promise;
    const sync = vi.spyOn(t.journal, "sync");
    const written = sys.write(fd, bytes("{}"));
    await settle();
    expect(meter.written).toHaveLength(when === "after it" ? 0 : 1);
    // it is on its way to the disk all the same, with nobody waiting for it
    expect(sync).toHaveBeenCalledTimes(when === "after it" ? 0 : 1);
    disk.resolve();
    await written;
    await t.journal.sync();
    expect(meter.written).toHaveLength(1);
    expect(calls(t.journal.kinds())).toEqual(["call.intent", "call.result"]);
  });

  const make: Effect = { kind: "exec", argv: ["make"], cwd: "/desk", certain: true };
  const closed: SandboxProfile = { write: [], protect: [], hide: [], show: [], network: "off" };
  test.each<[string, SandboxProfile | null, readonly Effect[], number]>([
    ["that can only read", closed, [make], 1],
    ["without a sandbox", null, [make], 0],
    ["that may write somewhere", { ...closed, write: ["/desk"] }, [make], 0],
    ["with a way out", { ...closed, network: { allow: ["a.example"], deny: [] } }, [make], 0],
    ["of a tool that writes itself", closed, [make, modify("/desk/a")], 0],
  ])("a command %s: begins only when its intent may be lost", async (_, sandbox, effects, begun) => {
    const exec = { ...fakeExec(), sandbox: { available: true, kind: "bubblewrap" } } as const;
    const bench = await guardedBench({}, { exec });
    const { t, tool } = bench;
    Object.assign(t.permit, { sandbox: () => sandbox });
    tool.script.effects = effects;
    const disk = Promise.withResolvers<void>();
    t.journal.gate = disk.promise;
    const called = bench.call();
    await settle();
    expect(tool.written).toHaveLength(begun);
    disk.resolve();
    await called;
    expect(tool.written).toHaveLength(1);
    expect(calls(t.journal.kinds())).toEqual(["call.intent", "call.result"]);
  });

  test("a command that can only read waits for its sync where it spends a use of a grant", async () => {
    vi.spyOn(Grants.prototype, "spend").mockReturnValueOnce(true);
    const exec = { ...fakeExec(), sandbox: { available: true, kind: "bubblewrap" } } as const;
    const { t, tool, call } = await guardedBench({}, { exec });
    Object.assign(t.permit, { sandbox: () => closed });
    tool.script.effects = [make];
    const disk = Promise.withResolvers<void>();
    t.journal.gate = disk.promise;
    const called = call();
    await settle();
    expect(tool.written).toEqual([]);
    disk.resolve();
    await called;
    expect(tool.written).toHaveLength(1);
  });

  test("a model call waits for a disk that refuses, limit or none", async () => {
    const bench = await guardedBench();
    const meter = new MessageDevice("meter");
    bench.t.kernel.mount("/dev/llm/meter", meter);
    meter.script.effects = [{ kind: "llm", device: "/dev/llm/meter", maxTokens: 9 }];
    const fd = await bench.sys.open("/dev/llm/meter", 2);
    const full = { reason: "journal_full", path: "/j", freeBytes: 0, needBytes: 1 } as const;
    bench.t.journal.state = { state: "degraded", ...full };
    const written = bench.sys.write(fd, bytes("{}"));
    await settle();
    expect(meter.written).toHaveLength(0);
    bench.t.journal.state = { state: "well" };
    await written;
    expect(meter.written).toHaveLength(1);
  });

  test("a refused permit leaves no intent and no reservation", async () => {
    const bench = await guardedBench({ contextBudget: 1_000 });
    bench.t.permit.answer = () => DENY;
    await expect(bench.call()).rejects.toMatchObject({
      code: "PERMISSION",
      message: DENY.message,
      device: "/bin/edit",
    });
    expect([bench.tool.written, calls(bench.t.journal.kinds())]).toEqual([[], []]);
    expect(bench.sys.account().reserved).toBe(0);
  });

  test("a process waits for the open calls of those it has started, which hold the rest of its budget; they do not", async () => {
    const { t, sys, pid } = await guardedBench({ contextBudget: 1_000 });
    const meter = new MessageDevice("meter");
    t.kernel.mount("/dev/llm/meter", meter);
    meter.script.effects = [{ kind: "llm", device: "/dev/llm/meter", maxTokens: 9 }];
    meter.script.plan = { reserve: { tokens: 600, usd: 0 } };
    meter.script.charge = () => ({ tokens: 50, usd: 0 });
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const begun: string[] = [];
    meter.script.act = async (data) => {
      begun.push(Buffer.from(data).toString());
      await gates[begun.length - 1]?.promise;
    };
    const child = await t.start({ by: sys, parentPid: pid });
    const write = async (by: typeof sys, text: string) =>
      by.write(await by.open("/dev/llm/meter", 2), bytes(text));
    const first = write(child.sys, "child");
    await settle();
    await expect(write(child.sys, "child again")).rejects.toMatchObject({ code: "BUDGET" });
    const own = write(sys, "parent");
    await settle();
    expect(begun).toEqual(["child"]);
    gates[0]?.resolve();
    gates[1]?.resolve();
    await Promise.all([first, own]);
    expect(begun).toEqual(["child", "parent"]);
    expect(sys.account()).toEqual({ limit: 1_000, used: 100, reserved: 0 });
  });

  test("BUDGET before the call, with nothing journalled", async () => {
    const bench = await guardedBench({ contextBudget: 100 });
    bench.tool.script.plan = { reserve: { tokens: 101, usd: null } };
    await expect(bench.call()).rejects.toMatchObject({
      code: "BUDGET",
      message: "budget exceeded: limit 100, used 0, reserved 0, asked 101 tokens",
    });
    expect([bench.tool.written, calls(bench.t.journal.kinds())]).toEqual([[], []]);
    bench.tool.script.plan = { reserve: { tokens: 101, usd: null }, reserveLeast: 100 };
    await bench.call();
  });

  test("an act that fails is settled and journalled with its code", async () => {
    const bench = await guardedBench({ contextBudget: 1_000 });
    bench.tool.script.plan = { reserve: { tokens: 500, usd: null } };
    bench.tool.script.charge = () => COST;
    bench.tool.script.act = () => Promise.reject(new Error("broke"));
    await expect(bench.call()).rejects.toMatchObject({
      code: "INTERNAL",
      device: "/bin/edit",
      message: "broke",
    });
    const result = { ok: false, code: "INTERNAL", message: "broke", cost: COST };
    expect(bench.t.journal.bodies("call.result")).toEqual([result]);
    expect(bench.sys.account()).toEqual({ limit: 1_000, used: 300, reserved: 0 });
  });

  test("a device that cannot say its cost has cost what was reserved", async () => {
    const bench = await guardedBench({ contextBudget: 1_000 });
    bench.tool.script.plan = { reserve: { tokens: 500, usd: null } };
    bench.tool.script.charge = () => {
      throw new Error("no meter");
    };
    await bench.call();
    expect(bench.sys.account()).toEqual({ limit: 1_000, used: 500, reserved: 0 });
    expect(bench.t.logs).toEqual(["error: charge: no meter"]);
  });

  test("a plan of class none is permitted and not journalled", async () => {
    const bench = await guardedBench();
    bench.tool.script.plan = { effectClass: "none" };
    await bench.call();
    expect(bench.t.permit.asked).toHaveLength(1);
    expect(calls(bench.t.journal.kinds())).toEqual([]);
  });

  test("a model's request is not repeated in the intent; other input is cut at 64 KiB", async () => {
    const bench = await guardedBench();
    const write = (size: number) => bench.sys.write(bench.fd, bytes("x".repeat(size)));
    await write(100_000);
    bench.tool.script.effects = [{ kind: "llm", device: "/dev/llm/fake", maxTokens: 9 }];
    await write(100_000);
    expect(bench.t.journal.bodies("call.intent").map(({ input }) => String(input).length)).toEqual([
      65_536, 0,
    ]);
  });

  test("what was permitted is what is written, whatever the caller does to its bytes", async () => {
    const bench = await guardedBench();
    const data = bytes("good");
    bench.t.permit.answer = () => {
      data.set(bytes("evil"));
      return { behavior: "allow", reason: { kind: "rule", detail: "" } };
    };
    await bench.sys.write(bench.fd, data);
    expect(bench.tool.written).toEqual(["good"]);
  });
});

describe("guard() does not act", () => {
  test("when the fd is closed while the intent is journalled, and says so in the journal", async () => {
    const bench = await guardedBench({ contextBudget: 1_000 });
    bench.tool.script.plan = { reserve: { tokens: 500, usd: null } };
    bench.tool.script.charge = () => COST;
    const gate = Promise.withResolvers<void>();
    bench.t.journal.gate = gate.promise;
    const call = expect(bench.call()).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await bench.sys.close(bench.fd);
    gate.resolve();
    await call;
    expect(bench.tool.written).toEqual([]);
    expect(bench.t.journal.bodies("call.result")).toEqual([
      { ok: false, code: "CANCELLED", message: "cancelled" },
    ]);
    expect(bench.sys.account()).toEqual({ limit: 1_000, used: 0, reserved: 0 });
  });

  test("when the process is killed meanwhile", async () => {
    const bench = await guardedBench();
    const gate = Promise.withResolvers<void>();
    bench.t.journal.gate = gate.promise;
    const call = expect(bench.call()).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    const told = bench.t.init.kill(bench.pid, 2);
    gate.resolve();
    await Promise.all([told, call]);
    expect(bench.tool.written).toEqual([]);
  });

  test("after the handle is revoked", async () => {
    const bench = await guardedBench();
    await bench.t.init.kill(bench.pid, 2);
    await expect(bench.call()).rejects.toMatchObject({ code: "CANCELLED" });
    expect(bench.t.permit.asked).toEqual([]);
  });

  test("when a command's working directory has come to lie elsewhere: CONFLICT", async () => {
    let moved = false;
    const bench = await guardedBench(
      {},
      { realPath: (path) => (moved && path === "/desk/a" ? "/home" : path) },
    );
    bench.tool.script.effects = [{ kind: "exec", argv: ["ls"], cwd: "/desk/a", certain: true }];
    bench.t.permit.answer = () => {
      moved = true;
      return { behavior: "allow", reason: { kind: "rule", detail: "" } };
    };
    await expect(bench.call()).rejects.toMatchObject({ code: "CONFLICT" });
    expect(bench.tool.written).toEqual([]);
  });

  test("when a permitted path has come to lie elsewhere: CONFLICT", async () => {
    let moved = false;
    const bench = await guardedBench(
      {},
      { realPath: (path) => (moved && path === "/desk/a" ? "/etc/passwd" : path) },
    );
    bench.t.permit.answer = () => {
      moved = true;
      return { behavior: "allow", reason: { kind: "rule", detail: "" } };
    };
    await expect(bench.call()).rejects.toMatchObject({ code: "CONFLICT" });
    expect(bench.tool.written).toEqual([]);
    expect(bench.t.journal.bodies("call.result")).toMatchObject([{ ok: false, code: "CONFLICT" }]);
  });
});

describe("a call inside a permitted call", () => {
  const nested = async () => {
    const bench = await guardedBench({ contextBudget: 1_000 });
    bench.acts(async (sys) => {
      const fd = await sys.open("/dev/fs", 2);
      await sys.write(fd, bytes("inner"));
      await sys.close(fd);
    });
    return bench;
  };

  test("acts within what was permitted, and is neither asked nor journalled again", async () => {
    const bench = await nested();
    await bench.call();
    expect(bench.files.written).toEqual(["inner"]);
    expect(bench.t.permit.asked).toHaveLength(1);
    expect(calls(bench.t.journal.kinds())).toEqual(["call.intent", "call.result"]);
  });

  test("beyond it is PERMISSION", async () => {
    const bench = await nested();
    bench.files.script.effects = [{ kind: "exec", argv: ["rm"], cwd: "/", certain: true }];
    await expect(bench.call()).rejects.toMatchObject({
      code: "PERMISSION",
      message: "tool edit did not declare this effect: exec",
    });
    expect(bench.files.written).toEqual([]);
  });

  test("that opens beyond it is PERMISSION too, and opens nothing", async () => {
    const bench = await nested();
    bench.files.script.openEffects = [{ kind: "read", path: "/etc/shadow" }];
    await expect(bench.call()).rejects.toMatchObject({ code: "PERMISSION" });
    expect(bench.files.live).toBe(0);
  });

  test("on a path that has moved is CONFLICT", async () => {
    let real = "/desk/a";
    const bench = await guardedBench({}, { realPath: (path) => (path === "/desk/a" ? real : path) });
    bench.acts(async (sys) => {
      const fd = await sys.open("/dev/fs", 2);
      real = "/elsewhere";
      await sys.write(fd, bytes("inner"));
    });
    await expect(bench.call()).rejects.toMatchObject({ code: "CONFLICT" });
    expect(bench.files.written).toEqual([]);
  });

  test("pays its own cost from the same account", async () => {
    const bench = await nested();
    bench.files.script.plan = { reserve: { tokens: 900, usd: null } };
    bench.files.script.charge = () => COST;
    await bench.call();
    expect(bench.sys.account()).toEqual({ limit: 1_000, used: 300, reserved: 0 });
    await expect(bench.call()).rejects.toMatchObject({ code: "BUDGET" });
    expect(bench.proc.used.tokens).toBe(300);
  });

  test("starts a process only if it said so", async () => {
    const bench = await nested();
    bench.acts(async (sys) => void (await sys.spawn("child", null)));
    await expect(bench.call()).rejects.toMatchObject({ code: "PERMISSION" });
    bench.tool.script.effects = [{ kind: "spawn", program: "", background: false }];
    await bench.call();
    expect(bench.t.kernel.table.childrenOf(bench.proc.pid)).toHaveLength(1);
  });
});
