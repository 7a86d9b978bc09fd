/** Bad input, slow and silent clients, the socket's place, the end. */
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import * as net from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ProcessEvent } from "../../abi/events.ts";
import { asPid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import { PROTOCOL } from "../../abi/wire.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { FrameClient } from "./frames/testing.ts";
import { startServer } from "./server.ts";
import { type RawClient, ServerFixture, until } from "./testing/fixture.ts";

let fixture: ServerFixture;
let client: RawClient;
beforeEach(async () => {
  fixture = await new ServerFixture().start();
  client = await fixture.connect();
});
afterEach(() => fixture.close());

const invalid = (message: string) =>
  `{"ok":false,"error":{"code":"INVALID","message":${JSON.stringify(message)}}}\n`;
const pong = '{"ok":true,"payload":{"version":"0.1.0"}}\n';

describe("bad input", () => {
  it("a line that is no request is INVALID and the connection goes on", async () => {
    expect(await client.ask('{"method":}')).toMatch(
      /"INVALID","message":"line is not a request: Unexpected token/,
    );
    expect(await client.ask("[]")).toBe(invalid("line is not a request: not an object"));
    expect(await client.ask("null")).toBe(invalid("line is not a request: not an object"));
    expect(await client.ask("{}")).toBe(invalid("line is not a request: no method"));
    expect(await client.ask('{"method":5}')).toBe(invalid("line is not a request: no method"));
    expect(await client.ask('{"id":{},"method":"ping"}')).toContain("id must be a string or number");
    expect(await client.ask(`{"id":"${"分".repeat(43)}","method":"ping"}`)).toContain("at most 128 bytes");
    client.send(Buffer.from([0x7b, 0xff, 0x7d, 0x0a]));
    expect(await client.line()).toBe(invalid("line is not a request: not UTF-8"));
    expect(await client.ask('\r\n\n{"method":"ping"}\r')).toBe(pong);
  });

  it("lines end, come and stop as docs/wire.md says", async () => {
    const two = '{"id":1,"method":"ping"}\r\n{"id":2,"method":"ping"}\n';
    const numbered = [1, 2].map((id) => `{"id":${id},${pong.slice(1)}`);
    client.send(two);
    expect([await client.line(), await client.line()]).toEqual(numbered);
    for (const byte of Buffer.from(two)) client.socket.write(Uint8Array.of(byte));
    expect([await client.line(), await client.line()]).toEqual(numbered);
    expect(await client.ask('\uFEFF{"method":"ping"}')).toMatch(/"INVALID","message":"line is not a request/);
    expect(await client.ask('{"method":"ping"}')).toBe(pong);
    // half-closed: what is whole is answered, what may be cut is not carried out
    client.socket.end(`${two}{"method":"kill","payload":{"pid":1}}`);
    expect(await client.rest()).toBe(numbered.join(""));
    const marked = await fixture.connect();
    marked.send('\uFEFF{"method":"ping"}\n');
    expect(await marked.rest()).toBe(invalid("not a client of this wire: the first byte must be {"));
  });

  it("an unknown method is named, also one that every object has", async () => {
    expect(await client.ask('{"method":"frobnicate"}')).toBe(invalid("unknown method: frobnicate"));
    expect(await client.ask('{"id":"x","method":"constructor"}')).toBe(
      '{"id":"x","ok":false,"error":{"code":"INVALID","message":"unknown method: constructor"}}\n',
    );
  });

  it("a bad payload is INVALID with the path of the field", async () => {
    const cases: [string, string][] = [
      ['{"method":"spawn","payload":{}}', "payload.intent: expected string, received undefined"],
      ['{"method":"spawn"}', "payload.intent: expected string, received undefined"],
      ['{"method":"spawn","payload":{"intent":"x","max_steps":"3"}}', "payload.max_steps: "],
      ['{"method":"spawn","payload":{"intent":"x","env":{"A":1}}}', "payload.env.A: "],
      ['{"method":"spawn","payload":{"intent":"x","colour":1}}', "payload.colour: unknown key"],
      ['{"method":"spawn","payload":{"intent":"x","permission_mode":"yolo"}}', "payload.permission_mode: "],
      ['{"method":"ping","payload":[]}', "payload: "],
      ['{"method":"ping","payload":null}', "payload: "],
      ['{"method":"kill","payload":{"pid":-1}}', "payload.pid: "],
    ];
    for (const [request, message] of cases) {
      const answer = JSON.parse(await client.ask(request));
      expect(answer.error.code).toBe("INVALID");
      expect(answer.error.message.startsWith(message), answer.error.message).toBe(true);
    }
  });

  it("a first byte of neither wire is refused and closed, empty lines before it aside", async () => {
    client.send('\r\n\nGET / HTTP/1.1\r\n\r\n{"method":"ping"}\n');
    expect(await client.rest()).toBe(invalid("not a client of this wire: the first byte must be {"));
    const binary = await fixture.connect();
    binary.send(Buffer.from("K\x01\x00\x00\x00\x00\x00\x00"));
    expect(await binary.rest()).toBe("");
  });

  it("a line over 10 MiB is INVALID after the requests before it, then closed", async () => {
    client.send('{"method":"ping"}\n{');
    client.send(Buffer.alloc(PROTOCOL.maxLineBytes, 0x20));
    client.send(" \n");
    const why = `line is over ${PROTOCOL.maxLineBytes} bytes`;
    expect(await client.rest()).toBe(pong + invalid(why));
    expect(fixture.logged).toEqual([`warn client (user): ${why}; closed`]);
  });

  it("a fuzz of 20,000 lines: each is answered, and the daemon lives", async () => {
    let seed = 42;
    const random = (n: number) => {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff;
      return seed % n;
    };
    const pieces = [
      '{"method":"',
      "ping",
      "kill",
      '","payload":',
      "{",
      "}",
      '"pid":',
      "1",
      "[",
      '"',
      "null",
      "\\u",
      "é",
      ",",
      "x",
    ];
    const lines = Array.from({ length: 20_000 }, () =>
      Array.from({ length: 1 + random(8) }, () => pieces[random(pieces.length)]).join(""),
    );
    lines.unshift('{"method":"ping"}');
    client.socket.end(lines.map((line) => `${line}\n`).join(""));
    const answers = (await client.rest()).trim().split("\n");
    expect(answers).toHaveLength(lines.length);
    for (const answer of answers) expect(typeof JSON.parse(answer).ok).toBe("boolean");
    expect(fixture.logged).toEqual([]);
    expect(await (await fixture.connect()).ask('{"method":"ping"}')).toBe(pong);
  });
});

describe("silent and slow clients", () => {
  it("an unfinished line is closed 10 s after its last byte, an idle connection never", async () => {
    const idle = await fixture.connect();
    expect(await idle.ask('{"method":"ping"}')).toBe(pong);
    client.send('{"method":');
    await settle(5);
    await fixture.clock.advance(9_000);
    client.send('"ping"');
    await settle(5);
    await fixture.clock.advance(9_000);
    expect(fixture.server.connections).toBe(2);
    await fixture.clock.advance(2_000);
    expect(await client.rest()).toBe("");
    await fixture.clock.advance(600_000);
    expect(await idle.ask('{"method":"ping"}')).toBe(pong);
  });

  it("a spawn client that never reads is closed after 30 s and disturbs nobody", async () => {
    await client.ask('{"method":"spawn","payload":{"intent":"x","verbose":true}}');
    client.socket.pause();
    const events = fixture.kernel.spawned[0]?.events;
    const big: ProcessEvent = {
      event: "log",
      pid: asPid(1),
      entry: { timestampMs: 0, level: "info", message: "x".repeat(100_000) },
    };
    events?.push(...Array(200).fill(big));
    await settle(20);
    const other = await fixture.connect();
    expect(await other.ask('{"method":"ping"}')).toBe(pong);
    await fixture.clock.advance(29_000);
    expect(fixture.server.connections).toBe(2);
    await fixture.clock.advance(2_000);
    await until(() => fixture.server.connections === 1);
    expect(events?.closed).toBe(true);
    expect(fixture.logged).toEqual(["warn slow client: took no byte for 30s, closed"]);
    expect(await other.ask('{"method":"ping"}')).toBe(pong);
  });

  it("a slow client that reads again gets everything up to the end", async () => {
    await client.ask('{"method":"spawn","payload":{"intent":"x"}}');
    client.socket.pause();
    const events = fixture.kernel.spawned[0]?.events;
    const end: ProcessEvent = {
      event: "complete",
      pid: asPid(1),
      result: "y".repeat(3_000_000),
      exit: EXIT.completed,
      tokensUsed: 1,
      elapsedMs: 1,
    };
    events?.push(end);
    events?.end();
    await settle(20);
    await fixture.clock.advance(25_000);
    client.socket.resume();
    expect(JSON.parse(await client.rest()).payload.result).toHaveLength(3_000_000);
  });

  it("a client that sends ahead without reading is held up, not collected", async () => {
    client.socket.pause();
    const ping = `{"id":"${"x".repeat(120)}","method":"ping"}\n`.repeat(1000);
    let written = 0;
    for (; written < 400 && client.socket.write(ping); written++) await settle(2);
    for (let i = 0; i < 40; i++) {
      client.socket.write(ping);
      await settle(2);
    }
    expect(client.socket.writableLength).toBeGreaterThan(0);
    await fixture.clock.advance(31_000);
    await until(() => fixture.server.connections === 0);
  });
});

describe("connections", () => {
  it("the 257th is told UNAVAILABLE and closed; when one leaves there is room again", async () => {
    const all = [client];
    while (all.length < PROTOCOL.maxConnections) all.push(await fixture.connect());
    await until(() => fixture.server.connections === PROTOCOL.maxConnections);
    const told = '{"ok":false,"error":{"code":"UNAVAILABLE","message":"too many connections (256)"}}\n';
    const late = await fixture.connect();
    late.send('{"method":"ping"}\n');
    expect(await late.rest()).toBe(told);
    const frames = await FrameClient.open(fixture.socketPath);
    const asked = [frames.ask("kernel.ping"), frames.ask("kernel.ping")];
    void Promise.allSettled(asked);
    await frames.closed;
    expect(frames.responses).toMatchObject([
      { id: "1", result: null, error: "too many connections (256)", fault: { code: "UNAVAILABLE" } },
    ]);
    const silent = await fixture.connect();
    await until(() => fixture.clock.pending > 2);
    await fixture.clock.advance(1_000);
    expect(await silent.rest()).toBe(told);
    client.socket.destroy();
    await until(() => fixture.server.connections === PROTOCOL.maxConnections - 1);
    expect(await (await fixture.connect()).ask('{"method":"ping"}')).toBe(pong);
    expect(fixture.server.accepted).toBe(PROTOCOL.maxConnections + 1);
  });

  it("a client that does not close its end after the stream is cut off", async () => {
    const stubborn = net.connect({ path: fixture.socketPath, allowHalfOpen: true });
    stubborn.resume();
    stubborn.write('{"method":"shutdown"}\n');
    await new Promise((resolve) => stubborn.once("end", resolve));
    expect(fixture.server.connections).toBe(2);
    await fixture.clock.advance(3_000);
    await until(() => fixture.server.connections === 1);
    stubborn.destroy();
  });

  it("after refuse() new ones are told why, those open go on", async () => {
    fixture.server.refuse("daemon is shutting down");
    expect(await (await fixture.connect()).ask('{"method":"ping"}')).toContain(
      '"UNAVAILABLE","message":"daemon is shutting down"',
    );
    expect(await client.ask('{"method":"ping"}')).toBe(pong);
  });

  it("no timer is left when the last one has gone", async () => {
    // the server's own look at its event loop, and the connection's
    await until(() => fixture.clock.pending === 2);
    client.socket.destroy();
    await until(() => fixture.clock.pending === 1);
  });
});

describe("close()", () => {
  it("ends connections, lets a stream have its end, and removes the socket", async () => {
    const watcher = await fixture.connect();
    await watcher.ask('{"method":"spawn","payload":{"intent":"x","interactive":true}}');
    const events = fixture.kernel.spawned[0]?.events;
    const closing = fixture.server.close();
    await settle();
    events?.push({
      event: "complete",
      pid: asPid(1),
      result: "r",
      exit: EXIT.completed,
      tokensUsed: 1,
      elapsedMs: 1,
    });
    events?.end();
    await closing;
    expect(await watcher.rest()).toContain('"complete"');
    expect(await client.rest()).toBe("");
    expect(existsSync(fixture.socketPath)).toBe(false);
    expect(fixture.clock.pending).toBe(0);
  });
});

describe("startServer()", () => {
  const options = () => ({
    ...fixture,
    log: () => {},
    kernel: fixture.kernel,
    deps: fixture.deps,
    clock: fixture.clock,
  });

  it("makes folder and socket private", () => {
    expect(statSync(dirname(fixture.socketPath)).mode & 0o777).toBe(0o700);
    expect(statSync(fixture.socketPath).mode & 0o777).toBe(0o600);
  });

  it("leaves at its end what another has put in the place of its socket", async () => {
    const socketPath = join(fixture.dir, "run", "taken.sock");
    const server = await startServer({ ...options(), socketPath });
    rmSync(socketPath);
    const later = net.createServer().listen(socketPath);
    await once(later, "listening");
    await server.close();
    expect(existsSync(socketPath)).toBe(true);
    later.close();
  });

  it("removes a stale socket", async () => {
    const socketPath = join(fixture.dir, "run", "stale.sock");
    writeFileSync(socketPath, "");
    const server = await startServer({ ...options(), socketPath });
    expect(statSync(socketPath).isSocket()).toBe(true);
    await server.close();
    expect(existsSync(socketPath)).toBe(false);
  });

  it("refuses an open folder, another owner and a long path, and touches nothing", async () => {
    const open = join(fixture.dir, "open");
    mkdirSync(open);
    chmodSync(open, 0o755);
    const stale = join(open, "crux.sock");
    writeFileSync(stale, "mine");
    const code = (name: string) => expect.objectContaining({ code: name });
    await expect(startServer({ ...options(), socketPath: stale })).rejects.toEqual(code("PERMISSION"));
    expect(existsSync(stale)).toBe(true);
    await expect(startServer({ ...options(), uid: (process.getuid?.() ?? 0) + 1 })).rejects.toEqual(
      code("PERMISSION"),
    );
    const long = join(fixture.dir, "x".repeat(120));
    await expect(startServer({ ...options(), socketPath: long })).rejects.toEqual(code("INVALID"));
  });
});
