/** The binary wire above a kernel whose programs are not real: what takes a thousand of something to show. */
import * as net from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { IPC_SAMPLES } from "../../../abi/docs/ipc-samples.ts";
import { asPid } from "../../../abi/ids.ts";
import { type IpcChunk, type IpcEvent, type IpcResponse, PACKET } from "../../../abi/ipc.ts";
import type { Label } from "../../../abi/labels.ts";
import { IPC_METHODS, type IpcMethodName } from "../../../abi/methods/ipc/methods.ts";
import { METHODS } from "../../../abi/methods/methods.ts";
import { labelsFacet } from "../../../kernel/labels/facet.ts";
import type { HostExec } from "../../../kernel/ports/host.ts";
import { fakeExec } from "../../../kernel/testing/fake-exec.ts";
import { testKernel } from "../../../kernel/testing/test-kernel.ts";
import { FrameDecoder } from "../../codec/frame.ts";
import { packFrame } from "../../codec/msgpack.ts";
import { unpack } from "../../codec/unpack.ts";
import { ServerFixture } from "../testing/fixture.ts";
import { Tokens } from "../tokens.ts";
import { digestOf } from "./idempotency.ts";
import { FrameClient } from "./testing.ts";

const CUTS = 1_000;
const SHORT = 1_000;

/** All give back what they are given; `echo` goes on, and every other program ends then. */
function programs(): HostExec {
  const exec = fakeExec();
  return {
    ...exec,
    run: (spec, signal) => {
      const child = exec.run(spec, signal);
      const over = Promise.withResolvers<{ code: 0; signal: null }>();
      const write = async (data: string | Uint8Array): Promise<void> => {
        spec.onOutput("stdout", Buffer.from(data));
        over.resolve({ code: 0, signal: null });
      };
      return spec.argv[0] === "echo" ? { ...child, write } : { ...child, write, exited: over.promise };
    },
  };
}

async function served() {
  const tokens = new Tokens({ now: () => t.clock.now(), mono: () => t.clock.mono() });
  const issued: string[] = [];
  const t = testKernel({
    exec: programs(),
    tokenFor: ({ pid, uuid }, scopes) => {
      issued.push(tokens.issue(pid, uuid, scopes));
      return issued.at(-1) ?? "";
    },
  });
  const fixture = new ServerFixture();
  fixture.options = { kernel: t.kernel, clock: t.clock, tokens };
  await fixture.start();
  onTestFinished(async () => {
    let isOver = false;
    void fixture.close().then(() => {
      isOver = true;
    });
    // streams in progress have a second of the virtual clock
    while (!isOver) await t.clock.advance(1_000);
  });
  const client = await FrameClient.open(fixture.socketPath);
  onTestFinished(() => void client.socket.destroy());
  return { t, fixture, path: fixture.socketPath, client, issued };
}

/** The same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

type Send = (id: string, method: string, params: object, meta?: object) => void;

/** What a client knows over all its connections. */
class Persistent {
  /** Requests with each key so far; the last of each is not answered yet. */
  readonly asked = { write: 0, publish: 0 };
  replayed = 0;
  lastSeq = 0;
  next = 0;
  output = "";
  readonly events: unknown[] = [];
  readonly #path: string;
  readonly #pid: number;

  constructor(path: string, pid: number) {
    this.#path = path;
    this.#pid = pid;
  }

  /** `sends`, `reads`: of so many bytes, then the connection is cut. Resolves when it is closed. */
  connect(sends: number, reads: number): Promise<void> {
    const socket = net.connect({ path: this.#path });
    const decoder = new FrameDecoder();
    let [sent, read] = [0, 0];
    const send: Send = (id, method, params, meta = {}) => {
      const frame = packFrame(PACKET.request, { id, method, params, meta });
      const part = frame.subarray(0, Math.max(0, sends - sent));
      sent += frame.length;
      if (part.length > 0) socket.write(part);
      if (sent >= sends) socket.end();
    };
    const [pid, after, from] = [this.#pid, this.lastSeq, this.next];
    send("e", "event.subscribe", { events: ["relay.*"], after });
    send("s", "process.stream.subscribe", { pid, filter: "stdout", from });
    this.#ask("write", send);
    this.#ask("publish", send);
    socket.on("data", (data: Buffer) => {
      const part = data.subarray(0, reads - read);
      read += part.length;
      for (const framed of decoder.push(part)) {
        if (framed.kind !== "frame") throw new Error(framed.kind);
        this.#take(framed.type, unpack(framed.payload), send);
      }
      if (read >= reads) socket.destroy();
    });
    socket.on("error", () => {});
    return new Promise((resolve) => socket.once("close", () => resolve()));
  }

  #ask(what: "write" | "publish", send: Send): void {
    const n = this.asked[what];
    const meta = { idempotencyKey: `${what} ${n}` };
    if (what === "write") send(what, "process.stdin.write", { pid: this.#pid, data: `${n}\n` }, meta);
    else send(what, "event.publish", { event: "relay.sent", data: { n } }, meta);
  }

  #take(type: number, message: object, send: Send): void {
    if (type === PACKET.chunk) {
      const { offset, next, data = new Uint8Array() } = message as IpcChunk;
      expect(offset).toBe(this.next);
      this.next = next;
      this.output += Buffer.from(data).toString();
    } else if (type === PACKET.event) {
      const { seq, data } = message as IpcEvent;
      expect(seq).toBeGreaterThan(this.lastSeq);
      this.lastSeq = seq;
      this.events.push(data);
    } else {
      const { id, fault, meta } = message as IpcResponse;
      expect(fault).toBeUndefined();
      if (meta?.replayed === true) this.replayed++;
      if (id !== "write" && id !== "publish") return;
      this.asked[id]++;
      this.#ask(id, send);
    }
  }
}

it(`${CUTS} cuts anywhere: each request with a key takes effect once, each event and each byte is seen once`, async () => {
  const { t, path, client: first } = await served();
  const { pid } = await first.call<{ pid: number }>("process.spawn", { id: "echo", command: ["echo"] });
  const client = new Persistent(path, pid);
  const random = numbers(7);
  for (let n = 0; n < CUTS; n++) {
    const isSending = random(2) === 0;
    await client.connect(isSending ? 1 + random(700) : Infinity, isSending ? Infinity : 1 + random(1_200));
    // a process may publish so often only
    await t.clock.advance(50);
  }
  const { write, publish } = client.asked;
  expect(Math.min(write, publish, client.replayed)).toBeGreaterThan(CUTS / 10);
  const whole = await FrameClient.open(path);
  await whole.call("event.subscribe", { events: ["relay.*"], after: client.lastSeq });
  await whole.call("process.stream.subscribe", { pid, filter: "stdout", from: client.next });
  // the last ones may have taken effect before the cut
  await whole.call("process.stdin.write", { pid, data: "end" });
  const { seq } = await whole.call<{ seq: number }>("event.publish", { event: "relay.end", data: {} });
  await whole.until(() => whole.events.at(-1)?.seq === seq && whole.chunks.length > 0);
  const rest = whole.chunks.map(({ data }) => Buffer.from(data ?? "").toString()).join("");
  const lines = (client.output + rest).split("\n");
  expect(lines.pop()).toBe("end");
  expect(lines).toEqual(Array.from({ length: lines.length }, (_, n) => `${n}`));
  expect(lines.length - write).toBeOneOf([0, 1]);
  const told = [...client.events, ...whole.events.slice(0, -1).map(({ data }) => data)];
  expect(told).toEqual(Array.from({ length: told.length }, (_, n) => ({ n })));
  expect(told.length - publish).toBeOneOf([0, 1]);
  whole.socket.destroy();
});

it(`${SHORT} short processes: the ends of the streams, then process.exited, then the answer to wait`, async () => {
  const { client } = await served();
  await client.call("event.subscribe", { events: ["process.exited"] });
  const waits: { pid: number; exit: object }[] = [];
  const one = async (n: number): Promise<void> => {
    const { pid } = await client.call<{ pid: number }>("process.spawn", { id: `s${n}`, command: ["short"] });
    await client.call("process.stream.subscribe", { pid, from: "start" });
    await client.call("process.stdin.write", { pid, data: "done" });
    waits.push({ pid, exit: await client.ask("process.wait", { pid }) });
  };
  // streams and subscriptions share the room of a connection
  const lanes = Array.from({ length: 25 }, async (_, lane) => {
    for (let n = lane; n < SHORT; n += 25) await one(n);
  });
  await Promise.all(lanes);
  const places = new Map(client.messages.map((message, at) => [message, at]));
  const placeOf = (message: object | undefined): number => places.get(message ?? {}) ?? Number.NaN;
  const ends = Map.groupBy(
    client.chunks.filter(({ end }) => end === true),
    ({ pid }) => pid,
  );
  const exits = new Map(client.events.map((event) => [event.pid, event]));
  expect([waits.length, exits.size]).toEqual([SHORT, SHORT]);
  for (const { pid, exit } of waits) {
    const own = ends.get(pid) ?? [];
    expect(own).toHaveLength(2);
    expect(Math.max(...own.map(placeOf))).toBeLessThan(placeOf(exits.get(pid)));
    expect(placeOf(exits.get(pid))).toBeLessThan(placeOf(exit));
  }
});

it("a session byte by byte gives the same answers as one in a single write", async () => {
  const { client, path } = await served();
  const [all, split] = [await FrameClient.open(path), await FrameClient.open(path)];
  const asked = [
    ["kernel.hello", { features: ["flow", "events"] }],
    ["process.spawn", { id: "no id!", command: ["echo"] }],
    ["process.status", { id: "nobody" }],
    ["process.list", {}],
    ["device.list", {}],
    ["event.publish", { event: "process.mine", data: {} }],
    ["stream.close", { stream: "none" }],
    ["no.such", {}],
  ] as const;
  const session = Buffer.concat(
    asked.map(([method, params], n) => packFrame(PACKET.request, { id: `q${n}`, method, params })),
  );
  all.socket.write(session);
  for (const byte of session) {
    split.socket.write(Buffer.from([byte]));
    // each goes alone
    await new Promise((resolve) => setImmediate(resolve));
  }
  const answers = async (from: FrameClient) => {
    await from.until(() => from.responses.length === asked.length);
    return from.responses.map(({ meta: _meta, ...answer }) => answer).sort((a, b) => (a.id < b.id ? -1 : 1));
  };
  expect(await answers(split)).toEqual(await answers(all));
  for (const { socket } of [all, split]) socket.destroy();
  expect(await client.call("kernel.ping")).toMatchObject({ protocol: 1 });
});

it("a token that has ended leaves its open connection nothing: no stream, no event, no input, no answer", async () => {
  const { t, path, client, issued } = await served();
  const { pid } = await client.call<{ pid: number }>("process.spawn", { id: "echo:1", command: ["echo"] });
  const opened = async (token: string | undefined): Promise<FrameClient> => {
    const own = await FrameClient.open(path);
    onTestFinished(() => void own.socket.destroy());
    await own.call("kernel.hello", { token });
    return own;
  };
  const own = await opened(issued[0]);
  const scopes = ["self", "observe", "control"];
  const ends = [
    (_: string) => t.clock.advance(1_000),
    (token: string) => own.call("kernel.token.revoke", { token }),
  ];
  for (const [n, end] of ends.entries()) {
    const { token } = await own.call<{ token: string }>("kernel.token.derive", { scopes, ttlMs: 1_000 });
    const helper = await opened(token);
    await helper.call("process.stream.subscribe", { pid, from: "now", filter: "stdout" });
    await helper.call("event.subscribe", { events: ["test.*"] });
    await helper.call("process.attach", { pid, stdin: true });
    const waiting = helper.ask("process.wait", { pid });
    expect((await client.ask("process.stdin.write", { pid, data: "held" })).fault?.code).toBe("CONFLICT");
    await end(token);
    expect((await waiting).fault).toMatchObject({ code: "PERMISSION" });
    await client.call("process.stdin.write", { pid, data: `after ${n}` });
    await client.call("event.publish", { event: "test.after", data: {}, pid });
    expect((await helper.ask("kernel.ping")).fault?.code).toBe("PERMISSION");
    expect([helper.chunks, helper.events]).toEqual([[], []]);
  }
});

it("a program that is told of another process has its labels, over either wire and whatever tells it", async () => {
  const { t, path, client, issued } = await served();
  const scopes = ["spawn"];
  const { pid } = await client.call<{ pid: number }>("process.spawn", {
    ...{ id: "echo:1", command: ["echo"] },
    options: { scopes },
  });
  const own = await FrameClient.open(path);
  onTestFinished(() => void own.socket.destroy());
  await own.call("kernel.hello", { token: issued[0] });
  const started = { id: "echo:2", command: ["echo"], options: { scopes } };
  const { pid: child } = await own.call<{ pid: number }>("process.spawn", started);
  const below = await FrameClient.open(path);
  onTestFinished(() => void below.socket.destroy());
  await below.call("kernel.hello", { token: issued[1] });
  const { pid: grandchild } = await below.call<{ pid: number }>("process.spawn", {
    ...{ id: "echo:3", command: ["echo"] },
  });
  await client.call("process.stdin.write", { pid: child, data: "said\n" });
  const labels: readonly Label[] = [{ kind: "secret", source: "file", detail: "/ws/.env" }];
  const setOf = (at: number) => t.proc(at).facts;
  setOf(child).change(labelsFacet, "label.add", { labels });
  const tell: [string, object][] = [
    ["process.status", { pid: child }],
    ["process.status", { pid: grandchild }],
    ["process.list", { kind: "native" }],
    ["process.stream.subscribe", { pid: child, from: "start" }],
    ["event.project", { projection: "processes", pid: child }],
    ["list_procs", {}],
    ["process.logs", { pid: child, follow: false }],
  ];
  for (const [method, params] of tell) {
    setOf(pid).change(labelsFacet, "label.clear", { which: "all" });
    await own.call("process.status", { pid });
    expect([method, t.proc(pid).labels]).toEqual([method, []]);
    await own.call(method, params);
    await own.until(() => method !== "process.logs" || own.events.some(({ data }) => "pid" in data));
    expect([method, t.proc(pid).labels]).toEqual([method, labels]);
  }
  setOf(pid).change(labelsFacet, "label.clear", { which: "all" });
  await own.call("event.subscribe", { events: ["process.started"], pid: child, after: 0 });
  await own.until(() => own.events.some(({ event }) => event === "process.started"));
  expect(t.proc(pid).labels).toEqual(labels);
  // what it reads later counts for what is said from then on
  const more: readonly Label[] = [{ kind: "untrusted", source: "web", detail: "https://a.test/" }];
  setOf(child).change(labelsFacet, "label.add", { labels: more });
  const before = own.chunks.length;
  await client.call("process.stdin.write", { pid: child, data: "more\n" });
  await own.until(() => own.chunks.length > before);
  expect(t.proc(pid).labels).toEqual([...labels, ...more]);
  // and nobody speaks in the name of an agent that is yet to come
  const squat = { intentId: `i_${grandchild + 1}` };
  expect((await below.ask("kernel.ping", {}, { meta: squat })).fault?.code).toBe("NOT_FOUND");
  expect((await below.ask("intent.begin", { name: "x", ...squat })).fault?.code).toBe("PERMISSION");
  // what is above it, it does not see on this wire; on the text wire, that counts too
  for (const method of ["process.status", "process.stream.subscribe", "event.subscribe", "process.wait"])
    expect(
      (await below.ask(method, { pid, ...(method === "event.subscribe" ? { events: ["*"] } : {}) })).fault
        ?.code,
    ).toBe("NOT_FOUND");
  setOf(child).change(labelsFacet, "label.clear", { which: "all" });
  await below.call("list_procs", {});
  expect(t.proc(child).labels).toEqual([...labels, ...more]);
});

it("a spawn that comes again is answered by a program that can be asked about, though its daemon told nothing", async () => {
  const { t, client } = await served();
  const asked = { id: "lost:1", command: ["echo", "x"], options: { cwd: "/w" } };
  const digest = digestOf([JSON.stringify(["0", "process.spawn", "k"]), asked]).slice(0, 40);
  vi.spyOn(t.kernel.requests, "find").mockResolvedValue({ digest, pid: asPid(99), at: 5 });
  const again = await client.ask("process.spawn", asked, { meta: { idempotencyKey: "k" } });
  expect(again).toMatchObject({ result: { id: "lost:1", pid: 99, osPid: null }, meta: { replayed: true } });
  const exit = { id: "lost:1", pid: 99, reason: "lost", kind: "killed", exitCode: 137 };
  expect(await client.call("process.wait", { pid: 99 })).toMatchObject(exit);
  const status = { state: "dead", command: ["echo", "x"], cwd: "/w", exit };
  expect(await client.call("process.status", { id: "lost:1" })).toMatchObject(status);
});

type Answer = readonly [result: unknown, code?: string | undefined, message?: string | undefined];
/** `isNew`: over a connection of its own. */
type Ask = (method: string, params: object, isNew: boolean) => Promise<Answer>;

async function overFrames(): Promise<Ask> {
  const { path, client } = await served();
  return async (method, params, isNew) => {
    const by = isNew ? await FrameClient.open(path) : client;
    const { result, fault } = await by.ask(method, params);
    if (isNew) by.socket.destroy();
    return [result, fault?.code, fault?.message];
  };
}

async function overLines(): Promise<Ask> {
  const { fixture } = await served();
  const client = await fixture.connect();
  return async (method, payload, isNew) => {
    const by = isNew ? await fixture.connect() : client;
    const { payload: result = null, error } = JSON.parse(await by.ask(JSON.stringify({ method, payload })));
    if (isNew) by.socket.destroy();
    return [result, error?.code, error?.message];
  };
}

/** In place of the examples: what makes them succeed here. */
const GIVEN: { readonly [M in IpcMethodName]?: object } = {
  // the features of the text wire are its own
  "kernel.hello": { client: { name: "encoder", version: "1" }, protocol: [1] },
  "process.spawn": { id: "encode:1", command: ["echo"] },
  "event.subscribe": { events: ["process.*"] },
  "intent.begin": { name: "transcode in.mkv", intentId: "i_clip" },
};

it("every method of the registry answers the same on both wires, but for four whose names the text wire has", async () => {
  const isStream = (name: IpcMethodName) => IPC_METHODS[name].kind === "stream";
  // what ends the program comes after what asks about it, and streams take a connection for themselves
  const rank = (name: IpcMethodName) => (isStream(name) ? 2 : name === "process.kill" ? 1 : 0);
  const names = (Object.keys(IPC_METHODS) as IpcMethodName[])
    .filter((name) => !(name in METHODS))
    .sort((a, b) => rank(a) - rank(b));
  const always = ["INVALID", "PERMISSION"];
  const answersOf = async (ask: Ask): Promise<string[]> => {
    const answers: string[] = [];
    let pid = 0;
    for (const name of names) {
      const params = {
        ...(GIVEN[name] ?? IPC_SAMPLES[name]),
        ...("pid" in IPC_SAMPLES[name] ? { pid } : {}),
      };
      const spec = IPC_METHODS[name];
      const errors: readonly string[] = "errors" in spec ? spec.errors : [];
      const [result, code, message] = await ask(name, params, isStream(name));
      if (name === "process.spawn") pid = (result as { pid: number }).pid;
      // ids of the kernel's own making differ in each run
      if (code !== undefined) expect([...always, ...errors]).toContain(code);
      const text = JSON.stringify([result, message]).replaceAll(/\b([ric])_[0-9A-Z]{26}/g, "$1_…");
      answers.push(`${name} ${code ?? "answers"} ${text}`);
    }
    return answers;
  };
  const frames = await answersOf(await overFrames());
  const lines = await answersOf(await overLines());
  expect(lines.filter((line, n) => line !== frames[n])).toEqual([]);
  const refused = frames
    .filter((line) => !line.includes(" answers "))
    .map((line) => line.split(" ", 2).join(" "));
  expect([names.length, refused]).toEqual([
    33,
    [
      "kernel.token.derive PERMISSION",
      "system.get_metrics UNAVAILABLE",
      "process.pty.resize INVALID",
      "stream.credit NOT_FOUND",
      "device.claim NOT_FOUND",
      "device.read CONFLICT",
      "device.write CONFLICT",
      "process.ready PERMISSION",
      "event.compact INVALID",
      "device.stream CONFLICT",
    ],
  ]);
});

it("a client of the text wire that has left is let go, also while nothing happens; one that only sends no more is not", async () => {
  const { t, fixture, client } = await served();
  const request = '{"method":"event.subscribe","payload":{"events":["test.*"]}}';
  const [left, silent] = [await fixture.connect(), await fixture.connect()];
  for (const each of [left, silent]) expect(await each.ask(request)).toContain('"ok":true');
  left.socket.destroy();
  silent.socket.end();
  while (fixture.server.connections > 2) await t.clock.advance(1_000);
  await client.call("event.publish", { event: "test.now", data: {} });
  expect(await silent.line()).toContain("test.now");
});
