/** The binary wire, byte for byte and method for method. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { fromJSONSchema } from "zod";
import { ERRNO, type ErrorCode } from "../../../abi/errno.ts";
import { Fault } from "../../../abi/errors.ts";
import { asPid, asProcUuid } from "../../../abi/ids.ts";
import { FRAME, PACKET } from "../../../abi/ipc.ts";
import { IPC_METHODS, isIpcMethod } from "../../../abi/methods/ipc/methods.ts";
import { EXIT, SIGNALS } from "../../../abi/process.ts";
import type { ChildClient } from "../../../kernel/ports/kernel-api.ts";
import { encodeFrame } from "../../codec/frame.ts";
import { packFrame } from "../../codec/msgpack.ts";
import { OF_A_PROCESS } from "../authority.ts";
import type { Desk, ServerContext } from "../desk.ts";
import type { Peer } from "../principal.ts";
import { procInfo } from "../testing/fake-kernel.ts";
import { ServerFixture, until } from "../testing/fixture.ts";
import { Tokens } from "../tokens.ts";
import type { EventSubscription } from "./event-subscription.ts";
import { digestOf } from "./idempotency.ts";
import { FrameSession } from "./session.ts";
import type { FrameOutput } from "./stream-subscription.ts";
import { FrameClient } from "./testing.ts";

const PING = Buffer.from("4b4101010000001982a26964a131a66d6574686f64ab6b65726e656c2e70696e67", "hex");

let fixture: ServerFixture;
let client: FrameClient;
beforeEach(async () => {
  fixture = await new ServerFixture().start();
  client = await FrameClient.open(fixture.socketPath);
});
afterEach(async () => {
  client.socket.destroy();
  await fixture.close();
});

const request = (id: string, method: string, more: object = {}): Buffer =>
  packFrame(PACKET.request, { id, method, ...more });

const child = (more: Partial<ChildClient> = {}): ChildClient => ({
  pid: asPid(7),
  uuid: asProcUuid("u"),
  line: "l",
  isPersons: true,
  list: () => [procInfo(7)],
  sees: (pid) => pid === 7 || pid === 8,
  controls: (pid) => pid === 7 || pid === 8,
  hears: async () => {},
  sys: null,
  ...more,
});

async function as(peer: Peer, clients: readonly ChildClient[] = [], tokens?: Tokens): Promise<FrameClient> {
  const own = await new ServerFixture();
  for (const each of clients) own.kernel.children.set(each.uuid, each);
  own.options = { peerOf: () => peer, ...(tokens === undefined ? {} : { tokens }) };
  await own.start();
  onTestFinished(() => own.close());
  const opened = await FrameClient.open(own.socketPath);
  onTestFinished(() => void opened.socket.destroy());
  return opened;
}

describe("frames", () => {
  it("a ping is these bytes, also one by one", async () => {
    expect(packFrame(PACKET.request, { id: "1", method: "kernel.ping" })).toEqual(PING);
    const page = readFileSync(new URL("../../../../docs/kernel-ipc.md", import.meta.url), "utf8");
    expect(page).toContain(`\n${PING.toString("hex").replace(/(..)(?!$)/g, "$1 ")}\n`);
    for (const byte of PING) client.socket.write(Buffer.from([byte]));
    await client.until(() => client.responses.length === 1);
    expect(client.responses[0]).toMatchObject({ id: "1", result: { version: "0.1.0", protocol: 1 } });
    expect(client.responses[0]?.meta?.requestId).toMatch(/^r_[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it("a claim of a device is the bytes of the page", () => {
    const params = { device: "virtual/loop0" };
    const bytes = packFrame(PACKET.request, { id: "1", method: "device.claim", params });
    const page = readFileSync(new URL("../../../../docs/kernel-ipc.md", import.meta.url), "utf8");
    expect(page).toContain(`\n${bytes.toString("hex").replace(/(..)(?!$)/g, "$1 ")}\n`);
  });

  it("a thousand requests in one write are all answered", async () => {
    const all = Array.from({ length: 1_000 }, (_, n) => request(`n${n}`, "kernel.ping"));
    client.socket.write(Buffer.concat(all));
    await client.until(() => client.responses.length === 1_000);
    expect(new Set(client.responses.map(({ id }) => id)).size).toBe(1_000);
    expect(client.responses.every(({ error }) => error === undefined)).toBe(true);
  });

  it.each([
    ["wrong magic", Buffer.from("4b42010100000001c0", "hex")],
    ["an unknown type", Buffer.from("4b41010900000001c0", "hex")],
    ["an answer from a client", Buffer.from("4b4101020000000180", "hex")],
    ["a length of 0", Buffer.from("4b41010100000000", "hex")],
  ])("%s: logged and closed without an answer, and no request behind it is handled", async (_name, bytes) => {
    client.socket.write(
      Buffer.concat([bytes, request("behind", "group.leave", { params: { pid: 7, group: "g" } })]),
    );
    await client.closed;
    expect(client.responses).toEqual([]);
    expect(fixture.logged).toEqual([expect.stringMatching(/^warn client \(user\): .* frame .*; closed$/)]);
    expect(fixture.kernel.calls).toEqual([]);
  });

  it("another version is refused in a frame of version 1, and closed", async () => {
    client.socket.write(Buffer.from("4b41070100000001c0", "hex"));
    await client.closed;
    const message = "unsupported protocol version 7; supported: 1";
    expect(client.responses).toEqual([
      {
        id: "",
        result: null,
        error: message,
        fault: {
          code: "UNAVAILABLE",
          message,
          retryable: true,
          retryAfterMs: 1_000,
          details: { supported: [1] },
        },
      },
    ]);
  });

  it("a frame over the limit is refused by its header, and logged; one of 1 KB before it is handled", async () => {
    const message = "frame too large: 10485761 bytes, limit 10485760";
    client.socket.write(request("small", "kernel.ping", { params: { payload: "x".repeat(1_024) } }));
    client.socket.write(
      Buffer.concat([Buffer.from("4b41010100a00001", "hex"), request("behind", "kernel.ping")]),
    );
    await client.closed;
    expect(client.responses).toMatchObject([
      { id: "small", result: { payload: "x".repeat(1_024) } },
      { id: "", fault: { code: "INVALID", message } },
    ]);
    expect(fixture.logged).toEqual([`warn client (user): ${message}; closed`]);
  });

  it("a broken payload is INVALID, and the connection goes on", async () => {
    for (const payload of ["c1", "90", "81", "81a161d40100"])
      client.socket.write(encodeFrame(PACKET.request, Buffer.from(payload, "hex")));
    client.socket.write(request("good", "kernel.ping"));
    await client.until(() => client.responses.length === 5);
    expect(client.responses.map(({ id, fault }) => [id, fault?.code])).toEqual([
      ...Array.from({ length: 4 }, () => ["", "INVALID"]),
      ["good", undefined],
    ]);
  });

  it("a client that never reads is closed after 30 s, and disturbs nobody", async () => {
    client.socket.pause();
    const params = { payload: "x".repeat(1_000) };
    const all = Array.from({ length: 2_000 }, (_, n) => request(`n${n}`, "kernel.ping", { params }));
    client.socket.write(Buffer.concat(all));
    const other = await FrameClient.open(fixture.socketPath);
    // 256 are answered in a turn
    for (let turn = 0; turn < 50; turn++) await other.call("kernel.ping");
    await fixture.clock.advance(29_000);
    expect(fixture.server.connections).toBe(2);
    await fixture.clock.advance(2_000);
    await until(() => fixture.server.connections === 1);
    expect(fixture.logged).toEqual(["warn slow client: took no byte for 30s, closed"]);
    expect(await other.call("kernel.ping")).toMatchObject({ protocol: 1 });
    other.socket.destroy();
  });

  it("an unfinished frame is closed after 10 s without a byte", async () => {
    client.socket.write(PING.subarray(0, 20));
    await client.ask("kernel.ping").catch(() => {});
    client.socket.destroy();
    const other = await FrameClient.open(fixture.socketPath);
    other.socket.write(PING);
    await other.until(() => other.responses.length === 1);
    other.socket.write(PING.subarray(0, 3));
    await fixture.clock.advance(12_000);
    await other.closed;
  });
});

describe("requests", () => {
  it.each([
    [{ method: "kernel.ping" }, "", "no id"],
    [{ id: 3, method: "kernel.ping" }, "", "id must be a string"],
    [{ id: "", method: "kernel.ping" }, "", "id is empty"],
    [{ id: "x".repeat(129), method: "kernel.ping" }, "", "id must be a string"],
    [{ id: "a" }, "a", "no method"],
    [{ id: "a", method: 1 }, "a", "method must be a string"],
    [{ id: "a", method: "kernel.pong" }, "a", "unknown method: kernel.pong"],
    [{ id: "a", method: "kernel.ping", params: [] }, "a", "params"],
    [{ id: "a", method: "kernel.ping", params: { no: 1 } }, "a", "params.no: unknown key"],
    [{ id: "a", method: "kernel.ping", params: { payload: "x".repeat(1_100) } }, "a", "params.payload"],
    [{ id: "a", method: "kernel.ping", meta: { timeoutMs: "1" } }, "a", "meta.timeoutMs"],
    [{ id: "a", method: "kill", params: {} }, "a", "payload.pid"],
  ])("%j is INVALID", async (message, id, why) => {
    client.socket.write(packFrame(PACKET.request, message));
    await client.until(() => client.responses.length === 1);
    const [response] = client.responses;
    expect(response).toMatchObject({ id, result: null, fault: { code: "INVALID", retryable: false } });
    expect(response?.error).toContain(why);
    expect(response?.error).toBe(response?.fault?.message);
  });

  it.each([
    [{}, false, { stdin: "p9.stdin", stdout: "p9.stdout", stderr: "p9.stderr" }],
    [{ stdin: "null" }, false, { stdin: null, stdout: "p9.stdout", stderr: "p9.stderr" }],
    [{ pty: true }, true, { stdin: "p9.stdin", stdout: "p9.stdout", stderr: null }],
  ])(
    "a spawn that an earlier daemon carried out is told by its record, and not made: %o",
    async (options, pty, streams) => {
      const params = { id: "a", command: ["x"], options };
      const whose = JSON.stringify(["0", "process.spawn", "k"]);
      const digest = digestOf([whose, params]).slice(0, 40);
      fixture.kernel.made.set(digestOf(whose).slice(0, 40), { digest, pid: asPid(9), at: 5 });
      const meta = { idempotencyKey: "k" };
      const result = { id: "a", pid: 9, osPid: null, startedAt: 5, pty, streams };
      expect(await client.ask("process.spawn", params, { meta })).toMatchObject({
        result,
        meta: { replayed: true },
      });
      const other = await client.ask("process.spawn", { ...params, command: ["y"] }, { meta });
      expect(other.fault).toMatchObject({ code: "CONFLICT", message: "idempotency key reused" });
      expect(fixture.kernel.spawned).toEqual([]);
    },
  );

  it.each<[ErrorCode, boolean, object | undefined, object]>([
    ["INVALID", false, undefined, {}],
    ["NOT_FOUND", false, undefined, {}],
    ["PERMISSION", false, undefined, {}],
    ["TIMEOUT", true, undefined, {}],
    ["UNAVAILABLE", true, undefined, { retryAfterMs: 1_000 }],
    ["UNAVAILABLE", true, { retryAfterMs: 7 }, { retryAfterMs: 7 }],
    ["CONFLICT", false, undefined, {}],
    ["BUDGET", false, { retryable: true }, {}],
    ["CANCELLED", false, undefined, {}],
    ["INTERNAL", false, undefined, {}],
    ["DRIVER", false, undefined, {}],
    ["DRIVER", true, { retryable: true }, {}],
  ])("a fault %s can be retried: %s, with details %o", async (code, retryable, details, more) => {
    fixture.kernel.spawnFault = new Fault({ code, message: "the cause", details });
    const { result, error, fault, meta } = await client.ask("process.spawn", { id: "a", command: ["x"] });
    const given = details === undefined ? {} : { details };
    expect([result, error, fault]).toEqual([
      null,
      "the cause",
      { code, message: "the cause", retryable, ...more, ...given },
    ]);
    expect(meta?.requestId).toMatch(/^r_/);
  });

  it("a thousand TERMs with a grace are one wait, and KILL follows at the end of the shortest", async () => {
    fixture.kernel.procs.push(procInfo(7));
    const before = fixture.clock.pending;
    const kill = (graceMs: number) => client.call("process.kill", { pid: 7, graceMs });
    for (let n = 0; n < 1_000; n++) await kill(60_000 + n);
    await kill(500);
    expect(fixture.clock.pending - before).toBe(1);
    await fixture.clock.advance(500);
    await until(() => fixture.kernel.killed.at(-1)?.[1] === SIGNALS.SIGKILL);
    expect(fixture.clock.pending).toBe(before);
  });

  it("what a request begins after the end of its connection ends at once, and nothing is kept of what is over", () => {
    const session = new FrameSession({} as Desk, () => ({}) as ServerContext, {} as FrameOutput);
    const [kept, over, late, close] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];
    session.atEnd(kept);
    session.atEnd(over)();
    session.close();
    session.atEnd(late);
    session.attach(late);
    const followed = { close, run: async () => {}, over: Promise.resolve(), allow: () => {} };
    session.subscribe(() => followed);
    session.follow(() => followed as unknown as EventSubscription);
    expect([kept, over, late, close].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 2, 2]);
  });

  function onPlatform(value: NodeJS.Platform): void {
    const { platform } = process;
    onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
    Object.defineProperty(process, "platform", { value });
  }

  it("limits of a program reach the kernel", async () => {
    onPlatform("linux");
    await client.ask("process.spawn", {
      id: "a",
      command: ["x"],
      options: { limits: { cpu: 0.5, memory: 9 } },
    });
    expect(fixture.kernel.spawned[0]?.opts.options).toMatchObject({ cpuCores: 0.5, memoryBytes: 9 });
  });

  it.each(["cpu", "memory"])("a limit of %s is refused by name where it cannot be enforced", async (name) => {
    onPlatform("darwin");
    const params = { id: "a", command: ["x"], options: { limits: { [name]: 1 } } };
    expect((await client.ask("process.spawn", params)).fault).toMatchObject({
      code: "UNAVAILABLE",
      message: `limits.${name}: this machine cannot enforce it`,
      details: { option: `limits.${name}` },
    });
    expect(fixture.kernel.spawned).toEqual([]);
  });

  it("names what is close to an unknown method", async () => {
    const { fault } = await client.ask("kernel.pong");
    expect(fault?.details).toEqual({ near: expect.arrayContaining(["kernel.ping"]) });
  });

  it("an id that is open is CONFLICT; the first goes on", async () => {
    fixture.kernel.procs = [procInfo(1)];
    client.socket.write(Buffer.concat([request("w", "process.steps"), request("w", "kernel.ping")]));
    await client.until(() => client.responses.length === 2);
    expect(client.responses.map(({ fault }) => fault?.code)).toEqual(["CONFLICT", "INVALID"]);
  });

  it("can be cancelled, and have a time limit", async () => {
    expect(await client.call("request.cancel", { id: "none" })).toEqual({ found: false });
    client.socket.write(request("w", "spawn", { params: { intent: "x" } }));
    await client.until(() => client.responses.length === 2);
    fixture.kernel.spawned[0]?.events?.end();
  });

  it("the methods of the text wire answer with the same names and keys", async () => {
    fixture.kernel.procs = [procInfo(3)];
    expect(await client.call("ping")).toEqual({ version: "0.1.0" });
    expect(await client.call("list_procs")).toMatchObject({ processes: [{ pid: 3, tokens_used: 456 }] });
    expect(await client.call("kill", { pid: 3, signal: 2 })).toEqual({});
    expect(fixture.kernel.killed).toEqual([[3, 2]]);
    expect((await client.ask("kill", { pid: 9 })).fault).toMatchObject({
      code: "NOT_FOUND",
      message: "process not found: 9",
      syscall: "Kill",
    });
  });

  it("a method of the text wire that has a key takes effect once", async () => {
    fixture.kernel.procs = [procInfo(3)];
    const meta = { idempotencyKey: "k" };
    const again = async () => (await client.ask("kill", { pid: 3, signal: 1 }, { meta })).meta?.replayed;
    expect([await again(), await again()]).toEqual([undefined, true]);
    expect(fixture.kernel.killed).toEqual([[3, 1]]);
    expect((await client.ask("kill", { pid: 3, signal: 2 }, { meta })).fault?.code).toBe("CONFLICT");
  });

  it("a stream of the text wire comes as events after its answer, and the connection goes on", async () => {
    expect(await client.call("spawn", { intent: "x" })).toEqual({ pid: 1 });
    const events = fixture.kernel.spawned[0]?.events;
    events?.push({ event: "step", pid: asPid(1), step: 1, total: 10 });
    events?.push({
      event: "complete",
      pid: asPid(1),
      result: "done",
      exit: EXIT.completed,
      tokensUsed: 1,
      elapsedMs: 1,
    });
    events?.end();
    await client.until(() => client.events.length === 2);
    expect(client.events).toMatchObject([
      { event: "agent.step", seq: 1, subscription: "1", pid: 1, data: { step: 1, total: 10 } },
      { event: "agent.complete", seq: 2, data: { result: "done", exit_code: 0 } },
    ]);
    expect(await client.call("ping")).toEqual({ version: "0.1.0" });
  });
});

describe("kernel.hello", () => {
  it("agrees on what both have; unknown features are ignored", async () => {
    const features = ["flow", "streams", "from_the_future"];
    expect(await client.call("kernel.hello", { features, protocol: [1, 2] })).toMatchObject({
      server: { name: "crux", version: "0.1.0" },
      protocol: 1,
      features: ["streams", "flow"],
      limits: { payloadBytes: 10_485_760, chunkBytes: 65_536, openRequests: 256, claims: 32 },
      authority: { kind: "user" },
    });
    expect((await client.ask("kernel.hello")).fault?.code).toBe("CONFLICT");
  });

  it("comes first", async () => {
    await client.call("kernel.ping");
    expect((await client.ask("kernel.hello")).fault?.code).toBe("CONFLICT");
    expect(await client.call("kernel.ping")).toBeDefined();
  });

  it("without protocol 1: UNAVAILABLE, closed", async () => {
    expect((await client.ask("kernel.hello", { protocol: [2] })).fault?.code).toBe("UNAVAILABLE");
    await client.closed;
  });
});

describe("who is speaking", () => {
  it("a program of a process acts for it alone, also if the user started it", async () => {
    const program = await as({ kind: "child", uuid: "u" }, [child()]);
    expect(await program.call("kernel.hello")).toMatchObject({
      authority: { kind: "process", pid: 7, scopes: ["self", "observe"], expiresAt: null },
    });
  });

  it("a program of no known process may greet and read metrics only", async () => {
    const guest = await as({ kind: "child", uuid: null });
    expect(await guest.call("kernel.ping")).toBeDefined();
    expect((await guest.ask("list_procs")).fault?.code).toBe("PERMISSION");
  });

  it("a token gives its scopes to its process; another's is refused and closed", async () => {
    const tokens = new Tokens({ now: () => 0, mono: () => 0 });
    const token = tokens.issue(asPid(7), asProcUuid("u"), ["self", "observe", "spawn"]);
    expect(token).toMatch(/^cap_7_[A-Za-z0-9_-]{43}$/);
    const own = await as({ kind: "child", uuid: "u" }, [child()], tokens);
    expect(await own.call("kernel.hello", { token })).toMatchObject({
      authority: { kind: "process", pid: 7, scopes: ["self", "observe", "spawn"] },
    });
    const other = await as(
      { kind: "child", uuid: "v" },
      [child(), child({ uuid: asProcUuid("v"), pid: asPid(9) })],
      tokens,
    );
    expect((await other.ask("kernel.hello", { token })).fault?.code).toBe("PERMISSION");
    await other.closed;
    const shell = await as({ kind: "own", uid: 0 }, [child()], tokens);
    expect(await shell.call("kernel.hello", { token })).toMatchObject({ authority: { pid: 7 } });
    expect((await shell.ask("group.list")).fault?.code).toBe("PERMISSION");
  });

  it("derived tokens hold no more, end with the first, and are refused when the process has ended", async () => {
    const tokens = new Tokens({ now: () => 1_000, mono: () => 0 });
    const token = tokens.issue(asPid(7), asProcUuid("u"), ["self", "observe"]);
    const own = await as({ kind: "child", uuid: "u" }, [child()], tokens);
    await own.call("kernel.hello", { token });
    const wider = await own.ask("kernel.token.derive", { scopes: ["self", "control"] });
    expect(wider.fault).toMatchObject({ code: "PERMISSION", details: { scope: "control" } });
    const derived = await own.call<{ token: string }>("kernel.token.derive", { scopes: ["self"], ttlMs: 50 });
    expect(tokens.find(derived.token)).toMatchObject({ scopes: ["self"], pid: 7 });
    expect(await own.call("kernel.token.revoke", { token })).toEqual({ revoked: true });
    // an open connection keeps nothing of it
    expect((await own.ask("process.list")).fault).toMatchObject({
      code: "PERMISSION",
      details: { scope: "observe" },
    });
    expect(tokens.find(derived.token)).toBeUndefined();
    const gone = await as({ kind: "own", uid: 0 }, [], tokens);
    const late = tokens.issue(asPid(8), asProcUuid("w"), ["self"]);
    expect((await gone.ask("kernel.hello", { token: late })).fault?.code).toBe("PERMISSION");
  });

  it("every method of the text wire keeps its rule for programs", async () => {
    const program = await as({ kind: "child", uuid: "u" }, [child()]);
    for (const method of ["settings.set", "ask.answer", "shutdown", "process.signal"]) {
      expect(Object.hasOwn(OF_A_PROCESS, method)).toBe(false);
      expect((await program.ask(method, {})).fault?.code).toMatch(/PERMISSION|INVALID/);
    }
    expect((await program.ask("spawn", { intent: "x" })).fault).toMatchObject({
      code: "PERMISSION",
      details: { scope: "spawn" },
    });
    expect(await program.call("ping")).toEqual({ version: "0.1.0" });
  });
});

describe("kernel.introspect", () => {
  it("shows every method with schemas that compile, limits and errors", async () => {
    const told = await client.call<{
      methods: { name: string; params: object }[];
      events: { name: string; data?: object }[];
      errors: object[];
    }>("kernel.introspect", { all: true });
    const names = told.methods.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["kernel.ping", "system.get_metrics", "spawn", "list_procs"]),
    );
    expect(new Set(names).size).toBe(names.length);
    expect(told.methods.every(({ params }) => "$schema" in params)).toBe(true);
    expect(told.errors).toHaveLength(Object.keys(ERRNO).length);
    const exited = told.events.find(({ name }) => name === "process.exited")?.data as never;
    const data = {
      id: "a",
      pid: 1,
      exitCode: 0,
      signal: null,
      reason: "completed",
      kind: "done",
      endedAt: 1,
    };
    const more = {
      usage: { cpuMs: 1, rssBytes: 0, peakRssBytes: 0, children: 0 },
      streams: { stdout: 0, stderr: 0 },
    };
    const schema = fromJSONSchema(exited);
    expect(schema.safeParse({ ...data, ...more }).success).toBe(true);
    expect(schema.safeParse({ ...data, ...more, exitCode: "0" }).success).toBe(false);
    expect(told.events.every((each) => "$schema" in (each.data ?? {}))).toBe(true);
  });

  it("has schemas of params that refuse what the kernel refuses: a key that is not there", async () => {
    const { methods } = await client.call<{ methods: { name: string; params: object }[] }>(
      "kernel.introspect",
      {},
    );
    for (const { name, params } of methods.filter(({ name: each }) => isIpcMethod(each))) {
      const more = { bogus: 1 };
      expect([name, fromJSONSchema(params as never).safeParse(more).success]).toEqual([name, false]);
      expect([name, (await client.ask(name, more)).fault?.code]).toEqual([name, "INVALID"]);
    }
  });

  it("has an example for each method: its schema and the kernel take it, and neither one with a key too few", async () => {
    type Schema = {
      required?: string[];
      properties?: Record<string, { type?: string }>;
      examples?: object[];
    };
    const { methods } = await client.call<{ methods: { name: string; params: Schema }[] }>(
      "kernel.introspect",
      { all: true },
    );
    let mutated = 0;
    for (const { name, params } of methods) {
      if (!isIpcMethod(name)) continue;
      const schema = fromJSONSchema(params as never);
      const isTaken = (sample: object) => [
        schema.safeParse(sample).success,
        IPC_METHODS[name].params.safeParse(sample).success,
      ];
      const [example = {}] = params.examples ?? [];
      expect([name, params.examples?.length, ...isTaken(example)]).toEqual([name, 1, true, true]);
      const { required = [], properties = {} } = params;
      const without = required.map((missing) =>
        Object.fromEntries(Object.entries(example).filter(([key]) => key !== missing)),
      );
      const typed = Object.keys(properties).filter((key) => properties[key]?.type !== undefined);
      for (const wrong of [...without, ...typed.map((key) => ({ ...example, [key]: null }))]) {
        expect([name, wrong, ...isTaken(wrong)]).toEqual([name, wrong, false, false]);
        mutated++;
      }
    }
    expect(mutated).toBeGreaterThan(100);
  });

  it("shows one method, those of a prefix, and names near ones", async () => {
    type Told = { methods: { name: string; params?: object }[] };
    const one = await client.call<Told>("kernel.introspect", { method: "kernel.ping", schema: false });
    expect(one.methods).toMatchObject([{ name: "kernel.ping", right: "self", kind: "request" }]);
    expect(one.methods[0]?.params).toBeUndefined();
    const some = await client.call<Told>("kernel.introspect", { prefix: "kernel." });
    expect(some.methods.every(({ name }) => name.startsWith("kernel."))).toBe(true);
    expect((await client.ask("kernel.introspect", { method: "kernel.pin" })).fault).toMatchObject({
      code: "NOT_FOUND",
      details: { near: expect.arrayContaining(["kernel.ping"]) },
    });
  });
});

it("both wires are served on one socket at once", async () => {
  const text = await fixture.connect();
  expect(await text.ask('{"method":"ping"}')).toContain('"ok":true');
  expect(await client.call("ping")).toEqual({ version: "0.1.0" });
  expect(FRAME.version).toBe(1);
});
