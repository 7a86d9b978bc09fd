/** Programs over the binary wire, on the booted system: real processes, pipes, terminals and tokens. */
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fromJSONSchema } from "zod";
import { PACKET } from "../src/abi/ipc.ts";
import { packFrame } from "../src/wire/codec/msgpack.ts";
import { FrameClient } from "../src/wire/server/frames/testing.ts";
import { runLoad } from "./harness/ipc-load.ts";
import { beforeTries } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { World } from "./harness/world.ts";

interface Spawned {
  readonly id: string;
  readonly pid: number;
  readonly osPid: number;
  readonly streams: Readonly<Record<string, string | null>>;
}
interface Exit {
  readonly exitCode: number;
  readonly signal: string | null;
  readonly reason: string;
  readonly kind: string;
}

let world: World;
let client: FrameClient;
let named = 0;
let inbox: string;
beforeTries(
  async () => {
    world = new World();
    inbox = join(world.dir, "inbox");
    mkdirSync(inbox);
    const path = world.write("frames.raw", "aaaabbbbcccc");
    const devices = [
      { id: "inbox", driver: "folder", path: inbox },
      { id: "cam0", driver: "frames", path, frameBytes: 4, everyMs: 10 },
    ];
    world.settings({ devices });
    await world.crux(["ps"]);
    client = await FrameClient.open(world.socket);
  },
  async () => {
    client.socket.destroy();
    await world.close();
  },
);

const sh = (script: string, options: object = {}): Promise<Spawned> =>
  client.call("process.spawn", { id: `test:${++named}`, command: ["sh", "-c", script], options });
const wait = (pid: number): Promise<Exit> => client.call("process.wait", { pid });

/** All that a process writes to a stream, up to its end. */
async function output(pid: number, filter = "stdout", mode = "chunk"): Promise<string> {
  const asked = { pid, from: "start", filter, mode };
  const { subscriptions } = await client.call<{ subscriptions: Record<string, string> }>(
    "process.stream.subscribe",
    asked,
  );
  const own = () => client.chunks.filter(({ stream }) => stream === subscriptions[filter]);
  await client.until(() => own().at(-1)?.end === true);
  if (mode === "line")
    return own()
      .flatMap(({ lines = [] }) => lines)
      .join("|");
  return Buffer.concat(own().map(({ data = new Uint8Array() }) => data)).toString();
}

/** The first line that a process writes. */
async function firstLine(pid: number): Promise<string> {
  const asked = { pid, from: "start", filter: "stdout", mode: "line" };
  const { subscriptions } = await client.call<{ subscriptions: { stdout: string } }>(
    "process.stream.subscribe",
    asked,
  );
  const found = () => client.chunks.find(({ stream }) => stream === subscriptions.stdout)?.lines?.[0];
  await client.until(() => found() !== undefined);
  return found() ?? "";
}

describe("process.spawn", () => {
  it("runs a program with streams of its own, as the user's child that ps shows", async () => {
    const { pid, osPid, streams } = await sh("echo out; echo err >&2; read line; echo got $line; exit 3");
    expect(streams).toEqual({ stdin: `p${pid}.stdin`, stdout: `p${pid}.stdout`, stderr: `p${pid}.stderr` });
    expect(osPid).toBeGreaterThan(1);
    expect((await world.crux(["ps"])).stdout).toContain(`  ${pid} `);
    expect(await client.call("process.status", { pid })).toMatchObject({
      state: "running",
      kind: "native",
      ppid: 0,
    });
    await client.call("process.stdin.write", { pid, data: "x y\n" });
    expect(await wait(pid)).toMatchObject({ exitCode: 3, signal: null, reason: "exit 3", kind: "fault" });
    expect(await output(pid)).toBe("out\ngot x y\n");
    expect(await output(pid, "stderr")).toBe("err\n");
    expect(await output(pid, "stdout", "line")).toBe("out|got x y");
  });

  it("refuses what is not there, and an id in use: nothing is started", async () => {
    const first = await sh("read line");
    const again = { id: first.id, command: ["true"] };
    expect((await client.ask("process.spawn", again)).fault?.code).toBe("CONFLICT");
    expect((await client.ask("process.spawn", { id: "n", command: ["no-such-program"] })).fault?.code).toBe(
      "NOT_FOUND",
    );
    expect((await client.ask("process.status", { id: "n" })).fault?.code).toBe("NOT_FOUND");
    await client.call("process.stdin.write", { id: first.id, data: "", eof: true });
    await wait(first.pid);
    expect((await client.call<Spawned>("process.spawn", again)).pid).toBeGreaterThan(first.pid);
  });

  it("a hundred requests with one key make one process", async () => {
    const asked = { id: "once", command: ["true"] };
    const meta = { idempotencyKey: "k" };
    const all = await Promise.all(
      Array.from({ length: 100 }, () => client.ask("process.spawn", asked, { meta })),
    );
    expect(new Set(all.map(({ result }) => (result as Spawned).pid)).size).toBe(1);
    expect(all.filter((each) => each.meta?.replayed)).toHaveLength(99);
    const other = await client.ask("process.spawn", { ...asked, command: ["false"] }, { meta });
    expect(other.fault).toMatchObject({ code: "CONFLICT", message: "idempotency key reused" });
  });

  it("a request that lost its connection is repeated over another, and made once", async () => {
    const asked = { id: "cut", command: ["true"] };
    const meta = { idempotencyKey: "cut" };
    const lost = await FrameClient.open(world.socket);
    const sent = lost.ask("process.spawn", asked, { meta }).catch(() => undefined);
    lost.socket.end();
    await sent;
    const { pid } = await client.call<Spawned>("process.spawn", asked, { meta });
    const listed = await client.call<Spawned>("process.status", { id: "cut" });
    expect(listed.pid).toBe(pid);
  });

  it("ends what uses more memory than its limit", async () => {
    const { pid } = await sh("head -c 400000000 /dev/zero | tail", { limits: { memory: 40_000_000 } });
    expect(await wait(pid)).toMatchObject({ exitCode: 137, kind: "killed", signal: "SIGKILL" });
  });
});

describe("steering", () => {
  it("TERM, KILL, pause and resume; each is a no-op on what is already so, or ended", async () => {
    const { pid } = await sh("trap 'exit 9' TERM; while :; do read line; done");
    expect(await client.call("process.pause", { pid })).toMatchObject({
      state: "running",
      activity: "paused",
    });
    await client.call("process.pause", { pid });
    expect(await client.call("process.resume", { pid })).toMatchObject({ state: "running", activity: null });
    await client.call("process.kill", { pid, signal: 2 });
    expect(await wait(pid)).toMatchObject({ exitCode: 137, signal: "SIGKILL", kind: "killed" });
    expect(await client.call("process.kill", { pid })).toMatchObject({ state: "dead" });
    const heeds = await sh("trap 'exit 9' TERM; echo on; while :; do sleep 0.05; done");
    const watcher = await FrameClient.open(world.socket);
    await watcher.call("event.subscribe", { events: ["process.exited"], pid: heeds.pid });
    const lines = { pid: heeds.pid, from: "start", mode: "line", filter: "stdout" };
    const { subscriptions } = await client.call<{ subscriptions: Record<string, string> }>(
      "process.stream.subscribe",
      lines,
    );
    await client.until(() => client.chunks.some(({ stream }) => stream === subscriptions.stdout));
    await client.call("process.kill", { pid: heeds.pid });
    const own = { exitCode: 9, signal: null, reason: "exit 9", kind: "fault" };
    expect(await wait(heeds.pid)).toMatchObject(own);
    await watcher.until(() => watcher.events.length === 1);
    expect(watcher.events[0]?.data).toMatchObject(own);
    watcher.socket.destroy();
    expect((await client.ask("process.kill", { pid: 99_999 })).fault?.code).toBe("NOT_FOUND");
    expect((await client.ask("process.kill", { pid, signal: 6 })).fault?.code).toBe("INVALID");
    expect((await client.ask("process.kill", {})).fault?.code).toBe("INVALID");
  });

  it("wait has a time limit that leaves the process alone, and can be cancelled", async () => {
    const { pid } = await sh("read line");
    expect((await client.ask("process.wait", { pid, timeoutMs: 1 })).fault?.code).toBe("TIMEOUT");
    expect((await client.ask("process.wait", { pid }, { meta: { timeoutMs: 1 } })).fault?.code).toBe(
      "TIMEOUT",
    );
    const waiting = client.ask("process.wait", { pid }, { id: "w" });
    await client.until(() => true);
    const cancelled = await client.call("request.cancel", { id: "w" });
    expect(cancelled).toEqual({ found: true });
    void waiting.catch(() => {});
    await client.until(() =>
      client.responses.some(({ id, fault }) => id === "w" && fault?.code === "CANCELLED"),
    );
    await client.call("process.stdin.write", { pid, data: "\n" });
    expect(await wait(pid)).toMatchObject({ exitCode: 0 });
  });

  it("stdin belongs to one connection while it is held; cat gives back 10 MiB", async () => {
    const { pid } = await sh("cat");
    const other = await FrameClient.open(world.socket);
    const { attachment } = await other.call<{ attachment: string }>("process.attach", { pid, stdin: true });
    const refused = await client.ask("process.stdin.write", { pid, data: "no" });
    expect(refused.fault).toMatchObject({ code: "CONFLICT", details: { holder: { pid: 0 } } });
    expect(await other.call("process.detach", { attachment })).toEqual({ detached: true });
    other.socket.destroy();
    const part = Buffer.alloc(1024 * 1024, "abc\n");
    for (let n = 0; n < 10; n++)
      await client.call("process.stdin.write", { pid, data: new Uint8Array(part) });
    await client.call("process.stdin.write", { pid, data: "", eof: true });
    expect((await output(pid)) === part.toString().repeat(10)).toBe(true);
    expect((await client.ask("process.stdin.write", { pid, data: "late" })).fault).toMatchObject({
      code: "DRIVER",
      message: "broken pipe",
    });
  });

  it("a terminal has a size that changes, and ^D ends its input", async () => {
    const { pid, streams } = await sh("stty size; read line; stty size; cat", {
      pty: { cols: 100, rows: 30 },
    });
    expect(streams).toEqual({ stdin: `p${pid}.stdin`, stdout: `p${pid}.stdout`, stderr: null });
    expect(await client.call("process.pty.resize", { pid, cols: 44, rows: 11 })).toEqual({
      cols: 44,
      rows: 11,
    });
    await client.call("process.stdin.write", { pid, data: "\n" });
    await client.call("process.stdin.write", { pid, data: "last\n", eof: true });
    const text = await output(pid);
    expect(text).toContain("11 44");
    expect(text.match(/last/g)).toHaveLength(2);
    expect(await wait(pid)).toMatchObject({ exitCode: 0 });
    const plain = await sh("read line");
    expect((await client.ask("process.pty.resize", { pid: plain.pid, cols: 1, rows: 1 })).fault?.code).toBe(
      "INVALID",
    );
    await client.call("process.kill", { pid: plain.pid });
  });
});

describe("process.stream.subscribe", () => {
  it("with credit sends no more than was allowed, and the ends come before the answer to wait", async () => {
    const { pid } = await sh("head -c 300000 /dev/zero");
    const flow = await FrameClient.open(world.socket);
    await flow.call("kernel.hello", { features: ["flow", "streams"] });
    const asked = { pid, from: "start", filter: "stdout", window: 1_000 };
    const { subscriptions } = await flow.call<{ subscriptions: { stdout: string } }>(
      "process.stream.subscribe",
      asked,
    );
    const bytes = () => flow.chunks.reduce((sum, { data }) => sum + (data?.byteLength ?? 0), 0);
    await flow.until(() => bytes() === 1_000);
    await flow.call("process.wait", { pid });
    expect(bytes()).toBe(1_000);
    await flow.call("stream.credit", { stream: subscriptions.stdout, bytes: 299_000 });
    const waited = flow.call("process.wait", { pid });
    await flow.until(() => bytes() === 300_000);
    await flow.call("stream.credit", { stream: subscriptions.stdout, bytes: 1 });
    await flow.until(() => flow.chunks.at(-1)?.end === true);
    await waited;
    expect(flow.chunks.map(({ seq }) => seq)).toEqual(flow.chunks.map((_, n) => n + 1));
    flow.socket.destroy();
  });

  it("goes on from any position; what was dropped is one gap", async () => {
    const { pid } = await sh("head -c 200000 /dev/zero | tr '\\0' a; echo end", { spoolBytes: 65_536 });
    await wait(pid);
    const asked = { pid, from: "start", filter: "stdout", prefix: "kairo." };
    const before = client.chunks.length;
    await client.call("process.stream.subscribe", asked);
    await client.until(() => client.chunks.at(-1)?.end === true && client.chunks.length > before);
    const got = client.chunks.slice(before);
    const [gap, ...rest] = got;
    expect(gap?.gap?.from).toBe(0);
    expect(rest.every(({ gap: other }) => other === undefined)).toBe(true);
    expect(got.every(({ event }) => event === "kairo.process.stdout.chunk")).toBe(true);
    expect(rest.reduce((sum, { data }) => sum + (data?.byteLength ?? 0), 0)).toBe(
      200_004 - (gap?.gap?.to ?? 0),
    );
    expect((await client.ask("process.stream.subscribe", { stream: "nothing" })).fault?.code).toBe("INVALID");
  });

  it("a program whose spool is full waits for its readers, if asked for: nothing is dropped", async () => {
    const { pid } = await sh("head -c 1000000 /dev/zero | tr '\\0' a; echo end", {
      spoolBytes: 65_536,
      onSpoolFull: "block",
    });
    const all = await output(pid);
    expect([all.length, all.endsWith("aend\n")]).toEqual([1_000_004, true]);
    expect(await wait(pid)).toMatchObject({ exitCode: 0 });
    expect(await client.call("process.status", { pid })).toMatchObject({
      streams: { stdout: { bytes: 1_000_004, droppedBytes: 0 } },
    });
  });

  it("readers that stall cost the others nothing: all is read, and what was dropped is counted", async () => {
    const load = { name: "load", connections: 16, stalled: 4, bytes: 2_000_000 };
    const { followed } = await runLoad({ socket: world.socket, ...load });
    for (const { isLossy, isStalled, got, missed, printed, dropped } of followed) {
      expect([printed, got + missed]).toEqual([load.bytes, load.bytes]);
      expect(missed).toBeLessThanOrEqual(dropped);
      if (!isLossy) expect([missed, dropped]).toEqual([0, 0]);
      if (isStalled) expect(missed).toBeGreaterThan(0);
    }
  });
});

describe("the text wire", () => {
  it("has the same methods and answers; bytes are base64", async () => {
    await using text = await Wire.open(world.socket);
    const asked: [string, object][] = [
      ["kernel.introspect", { prefix: "process." }],
      ["device.list", {}],
      ["event.project", { projection: "progress" }],
      ["process.status", { id: "nobody" }],
      ["kernel.ping", { payload: [1, { a: null }], nope: 1 }],
    ];
    for (const [method, params] of asked) {
      const { result, fault } = await client.ask(method, params);
      const reply = await text.askUnproven(method, params);
      expect([method, reply?.payload ?? null, reply?.error?.code, reply?.error?.message]).toEqual([
        method,
        result,
        fault?.code,
        fault?.message,
      ]);
    }
    const cat = { id: "text:cat", command: ["cat"] };
    const started = await text.askUnproven("process.spawn", cat);
    const { pid } = started?.payload ?? {};
    const data = { base64: Buffer.from("\0\xff", "latin1").toString("base64") };
    expect((await text.askUnproven("process.stdin.write", { pid, data, eof: true }))?.payload).toMatchObject({
      written: 2,
    });
    text.send(
      `${JSON.stringify({ method: "process.stream.subscribe", payload: { pid, from: "start", filter: "stdout" } })}\n`,
    );
    const [answer, ...lines] = await text.rest();
    expect(answer?.payload).toMatchObject({ offsets: { stdout: 0 } });
    expect(lines.map(({ type }) => type)).toEqual(["chunk", "chunk", "eof"]);
    expect(lines[0]?.payload).toMatchObject({ event: "process.stdout.chunk", offset: 0, next: 2, data });
    expect(lines[1]?.payload).toMatchObject({ offset: 2, end: true });
  });
});

describe("limits and params", () => {
  it("streams and events share the room of a connection; what names nothing or twice is refused", async () => {
    const { pid, streams } = await sh("read line");
    const code = async (method: string, params: object) => (await client.ask(method, params)).fault?.code;
    const own = await FrameClient.open(world.socket);
    for (let n = 0; n < 63; n++) await own.call("event.subscribe", { events: ["no.such"] });
    expect((await own.ask("process.stream.subscribe", { pid })).fault?.code).toBe("UNAVAILABLE");
    await own.call("process.stream.subscribe", { pid, filter: "stdout" });
    expect((await own.ask("event.subscribe", { events: ["no.such"] })).fault?.code).toBe("UNAVAILABLE");
    own.socket.destroy();
    expect(await code("process.stream.subscribe", { pid, stream: streams.stdout })).toBe("INVALID");
    const data = { data: "!", encoding: "base64" };
    expect(await code("process.stdin.write", { pid, ...data })).toBe("INVALID");
    for (const method of ["process.attach", "process.stream.subscribe"])
      expect(await code(method, { pid: 999_999 })).toBe("NOT_FOUND");
    expect(await code("event.publish", { event: "tool.x", data: {}, pid: 999_999 })).toBe("NOT_FOUND");
    await client.call("process.kill", { pid, signal: 2 });
  });
});

it("a client that knows no more than seven methods and a string as an error is sent nothing unasked", async () => {
  const own = await FrameClient.open(world.socket);
  const command = ["sh", "-c", "echo out; read line"];
  const options = { cwd: world.work, env: { A: "1" }, limits: { memory: 512 * 1024 * 1024 } };
  const { id } = await own.call<Spawned>("process.spawn", { id: "old", command, options });
  const states = [await own.call("process.pause", { id }), await own.call("process.resume", { id })];
  expect(states).toEqual([
    { state: "running", activity: "paused" },
    { state: "running", activity: null },
  ]);
  expect(await own.call("system.get_metrics", {})).toHaveProperty("cpu");
  expect(await own.call("device.list", {})).toEqual(
    expect.arrayContaining([expect.objectContaining({ id: "system/metrics" })]),
  );
  expect(await own.call("kernel.ping", {})).toMatchObject({ protocol: 1 });
  await own.call("process.kill", { id });
  await wait((await own.call<{ pid: number }>("process.status", { id })).pid);
  expect(await own.ask("process.kill", { id: "none" })).toMatchObject({
    result: null,
    error: "process not found: none",
  });
  expect([own.events, own.chunks]).toEqual([[], []]);
  own.socket.destroy();
});

it("each error of the methods has the code of the chapter's tables", async () => {
  const own = await FrameClient.open(world.socket);
  await own.call("kernel.hello", {});
  const { id, pid } = await sh("read line");
  const deaf = (await sh("sleep 60", { stdin: "null" })).pid;
  const { claim } = await own.call<{ claim: string }>("device.claim", {
    device: "system/metrics",
    mode: "shared",
  });
  const command = ["true"];
  const nobody = { pid: 999_999 };
  const rows: [string, object, string][] = [
    ["kernel.hello", {}, "CONFLICT"],
    ["kernel.introspect", { method: "kernel.pin" }, "NOT_FOUND"],
    ["process.spawn", { id, command }, "CONFLICT"],
    ["process.spawn", { id: "e", command: ["no-such-program"] }, "NOT_FOUND"],
    ["process.spawn", { id: "e", command, options: { cwd: "/no/such" } }, "NOT_FOUND"],
    ["process.spawn", { id: "e", command, options: { env: { CRUX_PID: "1" } } }, "INVALID"],
    ["process.spawn", { id: "no blanks", command }, "INVALID"],
    ["process.kill", nobody, "NOT_FOUND"],
    ["process.pause", nobody, "NOT_FOUND"],
    ["process.resume", nobody, "NOT_FOUND"],
    ["process.wait", nobody, "NOT_FOUND"],
    ["process.wait", { pid, timeoutMs: 1 }, "TIMEOUT"],
    ["process.status", nobody, "NOT_FOUND"],
    ["process.attach", nobody, "NOT_FOUND"],
    ["process.stdin.write", { pid: deaf, data: "x" }, "INVALID"],
    ["process.stream.subscribe", { stream: "nothing" }, "INVALID"],
    ["process.pty.resize", { pid, cols: 1, rows: 1 }, "INVALID"],
    ["stream.credit", { stream: "nothing", bytes: 1 }, "NOT_FOUND"],
    ["device.claim", { device: "no/such" }, "NOT_FOUND"],
    ["device.read", { claim: "d_none", length: 1 }, "CONFLICT"],
    ["device.write", { claim, data: "x" }, "PERMISSION"],
    ["device.stream", { claim, direction: "write" }, "INVALID"],
    ["event.subscribe", { events: ["*"], after: 2 ** 50 }, "INVALID"],
    ["event.subscribe", { events: ["device.*", "dev*"] }, "INVALID"],
    ["event.publish", { event: "process.exited", data: {} }, "PERMISSION"],
    ["event.project", { projection: "nothing" }, "NOT_FOUND"],
    ["intent.begin", { name: "x", parentIntentId: "i_none" }, "NOT_FOUND"],
    ["intent.begin", { name: "x", intentId: "i_999999" }, "PERMISSION"],
    ["intent.end", { intentId: "i_none", outcome: "completed" }, "NOT_FOUND"],
    ["intent.cancel", { intentId: "i_none" }, "NOT_FOUND"],
    ["no.such", {}, "INVALID"],
  ];
  const answers = await Promise.all(rows.map(([method, params]) => own.ask(method, params)));
  expect(answers.map(({ fault }, n) => [...(rows[n] ?? []).slice(0, 2), fault?.code])).toEqual(rows);
  expect(answers.every(({ error, fault, result }) => result === null && error === fault?.message)).toBe(true);
  for (const each of [pid, deaf]) await own.call("process.kill", { pid: each, signal: 2 });
  own.socket.destroy();
});

describe("devices", () => {
  // a claim is of its connection, and what it hears is not for the other tests
  let client: FrameClient;
  beforeTries(
    async () => {
      client = await FrameClient.open(world.socket);
    },
    async () => void client.socket.destroy(),
  );

  const record = async (id: string) =>
    (await client.call<{ id: string; state: string; claim: object | null }[]>("device.list")).find(
      (each) => each.id === id,
    );
  const claim = (device: string, more: object = {}, by = client) =>
    by.call<{ claim: string; fence: number; mode: string }>("device.claim", { device, ...more });
  const read = async (own: { claim: string }, more: object = {}) => {
    const asked = { claim: own.claim, length: 65_536, ...more };
    const { data, eof } = await client.call<{ data: Uint8Array; eof: boolean }>("device.read", asked);
    return { text: Buffer.from(data).toString(), eof };
  };

  it("metrics and the clock are read by a shared claim, as the system's own metrics are", async () => {
    expect(await record("system/metrics")).toMatchObject({ path: "/dev/hal/system/metrics", state: "free" });
    const own = await claim("system/metrics", { mode: "shared" });
    const { text, eof } = await read(own);
    const metrics = await client.call("system.get_metrics");
    expect(Object.keys(JSON.parse(text))).toEqual(Object.keys(metrics));
    expect(Object.keys(JSON.parse(text).kernel)).toEqual(Object.keys(metrics.kernel as object));
    expect(eof).toBe(true);
    expect(await client.call("device.release", { claim: own.claim })).toEqual({ released: true });
    expect(await client.call("device.release", { claim: own.claim })).toEqual({ released: false });
    const clock = await claim("system/clock", { mode: "shared" });
    expect(JSON.parse((await read(clock)).text)).toMatchObject({ at: expect.any(Number) });
    await client.call("device.release", { claim: clock.claim });
  });

  it("virtual/loop0 gives back what is written; a claim is refused, renewed, timed and ended by name", async () => {
    const own = await claim("virtual/loop0");
    expect(await client.call("device.write", { claim: own.claim, data: "round trip" })).toEqual({
      written: 10,
    });
    expect(await read(own, { length: 5 })).toEqual({ text: "round", eof: false });
    expect(await read(own)).toEqual({ text: " trip", eof: false });
    const other = await FrameClient.open(world.socket);
    const held = await other.ask("device.claim", { device: "virtual/loop0" });
    expect(held.fault).toMatchObject({
      code: "CONFLICT",
      details: { holder: { pid: 0, mode: "exclusive" } },
    });
    const code = async (method: string, params: object, by = client) =>
      (await by.ask(method, params)).fault?.code;
    expect(await code("device.read", { claim: own.claim, length: 1 }, other)).toBe("CONFLICT");
    expect(await code("device.read", { claim: own.claim, length: 1, timeoutMs: 1 })).toBe("TIMEOUT");
    expect(await code("device.claim", { device: "virtual/loop9" })).toBe("NOT_FOUND");
    expect(await code("device.claim", {})).toBe("INVALID");
    const renewed = await client.call<{ fence: number }>("device.claim", { claim: own.claim, ttlMs: 60_000 });
    expect(renewed.fence).toBe(own.fence);
    const waiting = claim("virtual/loop0", { waitMs: 60_000 }, other);
    await client.call("device.release", { claim: own.claim });
    const next = await waiting;
    expect(next.fence).toBeGreaterThan(own.fence);
    expect((await client.ask("device.write", { claim: own.claim, data: "late" })).fault).toMatchObject({
      code: "CONFLICT",
      message: "claim expired",
    });
    const { head } = await client.call<{ head: number }>("event.subscribe", { events: ["device.*"] });
    expect(head).toBeGreaterThan(0);
    other.socket.destroy();
    const ofNext = () =>
      client.events.find(
        ({ data }) =>
          (data as { claim?: string }).claim === next.claim && (data as { cause?: string }).cause !== "claim",
      );
    await client.until(() => ofNext() !== undefined);
    expect(ofNext()).toMatchObject({
      event: "device.released",
      data: { device: "virtual/loop0", pid: 0, mode: "exclusive", fence: next.fence, cause: "disconnected" },
    });
    expect(await record("virtual/loop0")).toMatchObject({ state: "free", claim: null });
  });

  it("crux devices lists them, and who holds them", async () => {
    const own = await claim("virtual/loop0");
    const { stdout } = await world.crux(["devices"]);
    expect(stdout).toMatch(/^\/dev\/hal\/system\/metrics +sensor +read,stream +free$/m);
    expect(stdout).toMatch(
      /^\/dev\/hal\/virtual\/loop0 +virtual +read,write,stream +claimed by you \(exclusive\)$/m,
    );
    await client.call("device.release", { claim: own.claim });
    const listed = JSON.parse((await world.crux(["devices", "--json"])).stdout);
    expect(listed.data.devices).toEqual(await client.call("device.list"));
  });

  it("those of the settings: a camera drops what nobody reads in time, and says so", async () => {
    const [cam, loop] = [await claim("cam0", { mode: "shared" }), await claim("virtual/loop0")];
    expect((await read(cam, { length: 4 })).text).toMatch(/^(aaaa|bbbb|cccc)$/);
    const late = await client.ask("device.read", { claim: loop.claim, length: 1, timeoutMs: 100 });
    expect(late.fault?.code).toBe("TIMEOUT");
    const { stream } = await client.call<{ stream: string }>("device.stream", {
      claim: cam.claim,
      direction: "read",
    });
    const chunks = () => client.chunks.filter((each) => each.stream === stream);
    await client.until(() => chunks().length > 3);
    expect(chunks()[0]?.gap?.to).toBeGreaterThanOrEqual(4 * 4);
    expect(chunks().some(({ data }) => data?.byteLength === 4)).toBe(true);
    expect(await record("cam0")).toMatchObject({ meta: { droppedFrames: expect.any(Number) } });
    for (const own of [cam, loop]) await client.call("device.release", { claim: own.claim });
    expect(await record("cam0")).toMatchObject({ state: "free" });
  });

  it("those of the settings: a folder is read, goes with its source and comes back", async () => {
    const own = await claim("inbox", { mode: "shared" });
    writeFileSync(join(inbox, "a.txt"), "x");
    expect((await read(own)).text).toContain('"name":"a.txt"');
    await client.call("event.subscribe", { events: ["device.*"] });
    const told = () =>
      client.events.filter(({ data }) => {
        const { id, device } = data as { id?: string; device?: string };
        return (id ?? device) === "inbox";
      });
    rmSync(inbox, { recursive: true });
    await client.until(() => told().some(({ event }) => event === "device.gone"));
    expect((await client.ask("device.read", { claim: own.claim, length: 1 })).fault?.code).toBe("CONFLICT");
    expect((await client.ask("device.claim", { device: "inbox" })).fault?.code).toBe("NOT_FOUND");
    mkdirSync(inbox);
    await client.until(() => told().some(({ event }) => event === "device.added"));
    expect(told().find(({ event }) => event === "device.released")?.data).toMatchObject({ cause: "gone" });
    await client.call("device.release", { claim: (await claim("inbox", { mode: "shared" })).claim });
  });

  it("a stream goes both ways within its credit, and ends with its claim", async () => {
    const own = await claim("virtual/loop0");
    const asked = { claim: own.claim, direction: "both" };
    const { stream } = await client.call<{ stream: string }>("device.stream", asked);
    const send = (seq: number, data: string) =>
      client.socket.write(packFrame(PACKET.chunk, { stream, seq, data: new Uint8Array(Buffer.from(data)) }));
    const chunks = () => client.chunks.filter((each) => each.stream === stream);
    const text = () => Buffer.concat(chunks().map(({ data = new Uint8Array() }) => data)).toString();
    for (let n = 0; n < 20; n++) send(n + 1, String(n).repeat(10_000));
    await client.until(() => text().length === 300_000);
    expect(text()).toBe(Array.from({ length: 20 }, (_, n) => String(n).repeat(10_000)).join(""));
    const granted = client.events.filter(({ subscription }) => subscription === stream);
    expect(granted.reduce((sum, { data }) => sum + (data as { bytes: number }).bytes, 0)).toBe(300_000);
    await client.call("device.release", { claim: own.claim });
    await client.until(() => chunks().at(-1)?.end === true);
    expect(chunks().map(({ seq, event, id }) => [seq, event, id])).toEqual(
      chunks().map((_, n) => [n + 1, "device.chunk", "virtual/loop0"]),
    );
    expect(await client.call("stream.close", { stream })).toEqual({ closed: false });
  });

  it("a program has those of its scopes alone, for its life", async () => {
    const script = 'echo "$CRUX_IPC_SOCKET $CRUX_IPC_TOKEN"; read line';
    const { pid } = await sh(script, { scopes: ["device:virtual/*"] });
    const [socket = "", token] = (await firstLine(pid)).split(" ");
    const program = await FrameClient.open(socket);
    await program.call("kernel.hello", { token });
    const refused = await program.ask("device.claim", { device: "system/metrics", mode: "shared" });
    expect(refused.fault).toMatchObject({ code: "PERMISSION", details: { scope: "device:system/metrics" } });
    const wider = await program.ask("kernel.token.derive", { scopes: ["device:*"] });
    expect(wider.fault).toMatchObject({ code: "PERMISSION", details: { scope: "device:*" } });
    const narrower = { scopes: ["self", "device:virtual/loop0"] };
    expect(await program.call("kernel.token.derive", narrower)).toBeDefined();
    const own = await claim("virtual/loop0", { ttlMs: 3_600_000 }, program);
    expect(await record("virtual/loop0")).toMatchObject({ claim: { pid, mode: "exclusive" } });
    const { head } = await client.call<{ head: number }>("event.subscribe", { events: ["device.released"] });
    await client.call("process.kill", { pid, signal: 2 });
    await wait(pid);
    const told = () => client.events.find(({ seq, event }) => seq > head && event === "device.released");
    await client.until(() => told() !== undefined);
    expect(told()).toMatchObject({ pid, data: { claim: own.claim } });
    program.socket.destroy();
  });
});

describe("a program of a process", () => {
  it("acts with its token only: it starts children that end with it, within its scopes", async () => {
    const script = 'echo "$CRUX_PID $CRUX_IPC_SOCKET $CRUX_IPC_TOKEN"; read line';
    const { pid } = await sh(script, { scopes: ["spawn"] });
    const [own, socket = "", token] = (await firstLine(pid)).split(" ");
    expect(Number(own)).toBe(pid);
    const program = await FrameClient.open(socket);
    const hello = await program.call<{ authority: object }>("kernel.hello", { token });
    expect(hello.authority).toEqual({
      kind: "process",
      pid,
      scopes: ["self", "observe", "control", "spawn"],
      expiresAt: null,
    });
    const child = await program.call<Spawned>("process.spawn", { id: "child", command: ["sleep", "60"] });
    expect(await program.call("process.status", { id: "child" })).toMatchObject({
      ppid: pid,
      state: "running",
    });
    const stranger = await sh("read line");
    expect((await program.ask("process.kill", { pid: stranger.pid })).fault?.code).toBe("NOT_FOUND");
    const wide = { id: "w", command: ["true"], options: { scopes: ["device:*"] } };
    expect((await program.ask("process.spawn", wide)).fault).toMatchObject({ code: "PERMISSION" });
    expect((await program.ask("group.list")).fault?.code).toBe("PERMISSION");
    await client.call("process.kill", { pid, signal: 2 });
    await wait(pid);
    expect(await client.call("process.wait", { pid: child.pid })).toMatchObject({ kind: "killed" });
    program.socket.destroy();
    const late = await FrameClient.open(socket);
    expect((await late.ask("kernel.hello", { token })).fault?.code).toBe("PERMISSION");
    await client.call("process.kill", { pid: stranger.pid, signal: 2 });
  });
});

describe("intents", () => {
  const ended = (events: readonly { event: string; intentId?: string; data: object }[], id: string) =>
    events.find(({ event, intentId }) => event === "intent.ended" && intentId === id)?.data;

  it("a cancelled one ends all that was started for it; a late spawn is refused; the timeline has every cause", async () => {
    const own = await FrameClient.open(world.socket);
    const agreed = await own.call("kernel.hello", { features: ["intents", "projections", "new"] });
    expect(agreed.features).toEqual(["intents", "projections"]);
    await own.call("event.subscribe", { events: ["*"] });
    const { intentId, correlationId } = await own.call<{ intentId: string; correlationId: string }>(
      "intent.begin",
      { name: "render" },
    );
    const meta = { intentId };
    const command = ["sleep", "60"];
    const spawn = (id: string) => own.call<Spawned>("process.spawn", { id, command }, { meta });
    const { pid } = await spawn("in:1");
    await own.call("event.publish", { event: "render.progress", data: { n: 1 }, pid }, { meta });
    expect(await own.call("process.status", { pid })).toMatchObject({ intentId });
    expect(await own.call("process.list", { intentId })).toHaveLength(1);
    const waiting = own.ask("process.wait", { pid }, { meta });
    const bystander = await FrameClient.open(world.socket);
    await bystander.call("kernel.hello", { features: ["cancel"] });
    const cancelled = await own.call("intent.cancel", { intentId, graceMs: 60_000 });
    expect(cancelled).toEqual({ intents: [intentId], processes: [pid] });
    expect((await waiting).fault).toMatchObject({ code: "CANCELLED", details: { effect: "none" } });
    await expect(spawn("in:2")).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await own.call("process.wait", { pid })).toMatchObject({ kind: "killed", exitCode: 143 });
    await own.until(() => ended(own.events, intentId) !== undefined);
    expect(ended(own.events, intentId)).toMatchObject({ outcome: "cancelled" });
    const { state } = await own.call<{ state: { event: string; causationId: string | null }[] }>(
      "event.project",
      { projection: "timeline", correlationId },
    );
    expect(state.map(({ event }) => event).filter((name) => name !== "process.state")).toEqual([
      "intent.started",
      "process.started",
      "render.progress",
      "intent.cancel_requested",
      "process.exited",
      "intent.ended",
    ]);
    const causes = state.slice(0, 5).map(({ causationId }) => causationId);
    expect(causes.every((cause) => /^(r_[0-9A-Z]{26}|e_\d+)$/.test(cause ?? ""))).toBe(true);
    own.socket.destroy();
    bystander.socket.destroy();
  });

  it("a program that cooperates ends its own before the deadline; its open intents fail when it is killed", async () => {
    const script = 'echo "$CRUX_IPC_SOCKET $CRUX_IPC_TOKEN"; read line';
    const { pid } = await sh(script, { scopes: ["spawn"] });
    const [socket = "", token] = (await firstLine(pid)).split(" ");
    const wrapper = await FrameClient.open(socket);
    await wrapper.call("kernel.hello", { token, features: ["cancel"] });
    const { intentId } = await wrapper.call<{ intentId: string }>("intent.begin", { name: "transcode" });
    const meta = { intentId };
    const command = ["sh", "-c", 'read q; echo "got $q"'];
    const job = await wrapper.call<Spawned>("process.spawn", { id: "job", command }, { meta });
    await client.call("intent.cancel", { intentId, graceMs: 60_000 });
    await wrapper.until(() => wrapper.events.some(({ event }) => event === "intent.cancel_requested"));
    await wrapper.call("process.stdin.write", { pid: job.pid, data: "q\n" });
    expect(await wrapper.call("process.wait", { pid: job.pid })).toMatchObject({ exitCode: 0 });
    // it has ended, and is known to whoever started it
    expect(await wrapper.call("process.status", { pid: job.pid })).toMatchObject({ state: "dead" });
    await wrapper.call("intent.end", { intentId, outcome: "completed" });
    const other = await wrapper.call<{ intentId: string }>("intent.begin", { name: "next" });
    const stranger = await client.call<{ intentId: string }>("intent.begin", { name: "the user's" });
    const theft = await wrapper.ask("kernel.ping", {}, { meta: { intentId: stranger.intentId } });
    expect(theft.fault?.code).toBe("NOT_FOUND");
    expect((await wrapper.ask("event.compact", { before: 1 })).fault).toMatchObject({
      code: "PERMISSION",
      details: { scope: "user" },
    });
    await client.call("process.kill", { pid, signal: 2 });
    await wait(pid);
    const open = async () => {
      const { state } = await client.call<{ state: { id: string; outcome: string | null }[] }>(
        "event.project",
        {
          projection: "intents",
        },
      );
      const outcomes = [intentId, other.intentId, stranger.intentId];
      return outcomes.map((id) => state.find((each) => each.id === id)?.outcome);
    };
    await client.until(() => true);
    while ((await open())[1] === null) await client.call("kernel.ping");
    expect(await open()).toEqual(["cancelled", "failed", null]);
    wrapper.socket.destroy();
    expect((await client.ask("event.project", { projection: "none" })).fault?.code).toBe("NOT_FOUND");
  });
});

describe("events", () => {
  it("the ends of the streams, then process.exited, then the answer to wait; 20 processes side by side", async () => {
    const own = await FrameClient.open(world.socket);
    await own.call("event.subscribe", { events: ["process.*"], prefix: "kairo." });
    const runs = Array.from({ length: 20 }, async (_, n) => {
      const { pid } = await own.call<Spawned>("process.spawn", {
        id: `o${++named}`,
        command: ["sh", "-c", "read line; echo $0", String(n)],
      });
      await own.call("process.stream.subscribe", { pid, from: "start" });
      await own.call("process.stdin.write", { pid, data: "\n" });
      return { pid, exit: await own.ask("process.wait", { pid }) };
    });
    for (const { pid, exit } of await Promise.all(runs)) {
      const ended = own.events.find((each) => each.event === "kairo.process.exited" && each.pid === pid);
      expect(ended?.data).toMatchObject({ pid, exitCode: 0, streams: { stderr: 0 } });
      const began = own.events.find((each) => each.event === "kairo.process.started" && each.pid === pid);
      expect(began?.data).toMatchObject({
        pid,
        ppid: 0,
        command: ["sh", "-c", "read line; echo $0", expect.any(String)],
      });
      const ends = own.chunks.filter((each) => each.pid === pid && each.end === true);
      expect(ends).toHaveLength(2);
      expect(own.messages.indexOf(ended as object)).toBeGreaterThan(
        Math.max(...ends.map((each) => own.messages.indexOf(each))),
      );
      expect(own.messages.indexOf(exit)).toBeGreaterThan(own.messages.indexOf(ended as object));
    }
    const seqs = own.events.map(({ seq }) => seq);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    expect(new Set(seqs).size).toBe(seqs.length);
    own.socket.destroy();
  });

  it("those of agents come to every subscription, numbered and found again; a program hears of none above it", async () => {
    const own = await FrameClient.open(world.socket);
    const { head } = await own.call<{ head: number }>("event.subscribe", { events: ["agent.*"] });
    const { pid: other } = await sh('echo "$CRUX_IPC_SOCKET $CRUX_IPC_TOKEN"; read line');
    const line = await firstLine(other);
    const [socket = "", token] = line.split(" ");
    const program = await FrameClient.open(socket);
    await program.call("kernel.hello", { token });
    await program.call("event.subscribe", { events: ["*"], after: head });
    const { pid } = await client.call<{ pid: number }>("spawn", {
      intent: "look",
      model: "script/",
      detach: true,
    });
    await own.until(() => own.events.some((each) => each.event === "agent.complete"));
    const names = own.events.map((each) => each.event);
    expect(names).toEqual(["agent.spawn", ...names.slice(1, -1).map(() => "agent.step"), "agent.complete"]);
    expect(names.length).toBeGreaterThan(2);
    expect(own.events[0]).toMatchObject({
      pid,
      intentId: `i_${pid}`,
      data: { event: "spawn", pid, intent: "look" },
    });
    expect(own.events[1]?.data).toMatchObject({ event: "step", pid, step: 1 });
    expect(own.events.at(-1)?.data).toMatchObject({ event: "complete", pid, exit_code: 0 });
    await client.call("event.publish", { event: "test.over", data: {}, pid: other });
    await program.until(() => program.events.some((each) => each.event === "test.over"));
    expect(program.events.filter((each) => each.event.startsWith("agent."))).toEqual([]);
    const late = await FrameClient.open(world.socket);
    await late.call("event.subscribe", { events: ["agent.complete"], after: head, pid });
    await late.until(() => late.events.length === 1);
    expect(late.events[0]?.seq).toBe(own.events.at(-1)?.seq);
    await client.call("process.kill", { pid: other, signal: 2 });
    for (const each of [own, late, program]) each.socket.destroy();
  });

  it("what a program publishes is durable, numbered, and found again from any position", async () => {
    const meta = { correlationId: "story", intentId: "i1", causationId: "e_1" };
    const { head } = await client.call<{ head: number }>("event.subscribe", { events: ["tool.*"] });
    const { seq } = await client.call<{ seq: number }>(
      "event.publish",
      { event: "tool.progress", data: { n: 1 } },
      { meta },
    );
    expect(seq).toBeGreaterThan(head);
    await client.until(() => client.events.length === 1);
    expect(client.events[0]).toMatchObject({ event: "tool.progress", seq, data: { n: 1 }, ...meta });
    const late = await FrameClient.open(world.socket);
    await late.call("kernel.hello", { features: ["flow"] });
    const asked = { events: ["*"], after: head, window: 1, correlationId: "story" };
    await client.call("event.publish", { event: "tool.progress", data: { n: 2 } }, { meta });
    const { subscription } = await late.call<{ subscription: string }>("event.subscribe", asked);
    await late.until(() => late.events.length === 1);
    expect(await late.call("kernel.ping")).toBeDefined();
    expect(late.events).toHaveLength(1);
    await late.call("stream.credit", { stream: subscription, events: 5 });
    await late.until(() => late.events.length === 2);
    expect(late.events.map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await late.call("event.unsubscribe", { subscription })).toEqual({ closed: true });
    late.socket.destroy();
  });

  it("have the data that introspection says", async () => {
    const own = await FrameClient.open(world.socket);
    type Told = { events: { name: string; data: object }[] };
    const { events } = await own.call<Told>("kernel.introspect", {});
    const schemas = new Map(events.map(({ name, data }) => [name, fromJSONSchema(data as never)]));
    // one of each, beside those of the tests before
    const { pid } = await sh("read line");
    await own.call("process.pause", { pid });
    await own.call("process.kill", { pid, signal: 2 });
    await own.call("process.wait", { pid });
    const { intentId } = await own.call<{ intentId: string }>("intent.begin", { name: "told" });
    await own.call("intent.end", { intentId, outcome: "completed" });
    const device = { device: "system/metrics", mode: "shared" };
    const { claim } = await own.call<{ claim: string }>("device.claim", device);
    await own.call("device.release", { claim });
    await own.call("spawn", { intent: "look", model: "script/", detach: true });
    const { head } = await own.call<{ head: number }>("event.subscribe", { events: ["*"], after: 0 });
    await own.until(() => own.events.some(({ seq }) => seq >= head));
    await own.until(() => own.events.some(({ event }) => event === "agent.complete"));
    const wrong = own.events
      .map(({ event, data }) => ({ event, data, error: schemas.get(event)?.safeParse(data).error }))
      .filter(({ error }) => error !== undefined);
    expect(wrong).toEqual([]);
    const names = new Set(own.events.map(({ event }) => event));
    for (const name of [
      "process.exited",
      "process.state",
      "intent.ended",
      "device.claimed",
      "agent.complete",
    ])
      expect(names).toContain(name);
    own.socket.destroy();
  });

  it("are there after the daemon was killed; what had a key is not made again", async () => {
    const { seq } = await client.call<{ seq: number }>("event.publish", {
      event: "other.thing",
      data: { kept: true },
    });
    const asked: [string, object][] = [
      ["event.publish", { event: "other.once", data: { n: 1 } }],
      ["intent.begin", { name: "once" }],
    ];
    // new ones when it is tried again
    const key = randomUUID();
    const meta = { idempotencyKey: key };
    const first = await Promise.all(asked.map(([method, params]) => client.ask(method, params, { meta })));
    expect(first.map(({ fault }) => fault)).toEqual([undefined, undefined]);
    const long = { id: `long-${key}`, command: ["sh", "-c", "echo one; echo two; exec sleep 60"] };
    const started = await client.call<Spawned>("process.spawn", long, { meta });
    await client.call("process.stream.subscribe", { id: long.id, from: "start" });
    await client.until(() => client.chunks.some(({ pid, next }) => pid === started.pid && next === 8));
    process.kill(world.daemonPid as number, "SIGKILL");
    await client.closed;
    await world.crux(["ps"]);
    client = await FrameClient.open(world.socket);
    for (const [n, [method, params]] of asked.entries()) {
      const again = await client.ask(method, params, { meta });
      expect(again).toMatchObject({ result: first[n]?.result, meta: { replayed: true } });
      const other = await client.ask(method, { ...params, data: {} }, { meta });
      expect(other.fault).toMatchObject({ code: "CONFLICT", message: "idempotency key reused" });
    }
    const again = await client.ask("process.spawn", long, { meta });
    expect(again).toMatchObject({ result: { ...started, osPid: null }, meta: { replayed: true } });
    const other = await client.ask("process.spawn", { ...long, command: ["true"] }, { meta });
    expect(other.fault).toMatchObject({ code: "CONFLICT", message: "idempotency key reused" });
    // the program was lost: that is told as its end, and it is known by its name
    const exit = { id: long.id, pid: started.pid, reason: "lost", kind: "killed", exitCode: 137 };
    expect(await client.call("process.wait", { id: long.id })).toMatchObject(exit);
    expect(await client.call("process.status", { pid: started.pid })).toMatchObject({
      ...{ state: "dead", exit },
      streams: { stdout: { bytes: 8, open: false } },
    });
    expect(await output(started.pid)).toBe("one\ntwo\n");
    expect(await output(started.pid, "stdout", "line")).toContain("two");
    const rest = { stream: started.streams.stdout, from: 4 };
    const { offsets } = await client.call<{ offsets: object }>("process.stream.subscribe", rest);
    expect(offsets).toEqual({ stdout: 4 });
    const attached = await client.call("process.attach", { id: long.id });
    const streams = { stdin: null, stdout: started.streams.stdout, stderr: null };
    expect(attached).toMatchObject({ streams, offsets: { stdout: 8 }, pty: false });
    expect((await client.ask("process.attach", { id: long.id, stdin: true })).fault?.code).toBe("INVALID");
    const gone = await client.ask("process.stream.subscribe", { id: long.id, filter: "stderr" });
    expect(gone.fault?.code).toBe("NOT_FOUND");
    const events = ["other.thing", "process.exited"];
    await client.call("event.subscribe", { events, after: seq - 1 });
    await client.until(() => client.events.some(({ pid }) => pid === started.pid));
    expect(client.events[0]).toMatchObject({ event: "other.thing", seq, data: { kept: true } });
    expect(client.events.find(({ pid }) => pid === started.pid)?.data).toMatchObject(exit);
    const fresh = await client.call<Spawned>("process.spawn", long, { meta: { idempotencyKey: `${key}-2` } });
    expect(fresh.pid).toBeGreaterThan(started.pid);
  });

  it("names of the kernel, wrong names and positions that are not there are refused", async () => {
    const code = async (method: string, params: object) => (await client.ask(method, params)).fault?.code;
    expect(await code("event.publish", { event: "process.exited", data: {} })).toBe("PERMISSION");
    expect(await code("event.publish", { event: "Bad", data: {} })).toBe("INVALID");
    expect(await code("event.publish", { event: "tool.big", data: { x: "x".repeat(70_000) } })).toBe(
      "INVALID",
    );
    expect(await code("event.subscribe", { events: ["*"], after: 2 ** 50 })).toBe("INVALID");
    expect(await code("process.ready", {})).toBe("PERMISSION");
    const burst = Array.from({ length: 400 }, () =>
      client.ask("event.publish", { event: "tool.fast", data: {} }),
    );
    const codes = (await Promise.all(burst)).map(({ fault }) => fault?.code);
    expect(codes.filter((each) => each === undefined).length).toBeGreaterThanOrEqual(100);
    expect(codes).toContain("UNAVAILABLE");
  });
});
