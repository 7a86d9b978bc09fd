import * as net from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { printed } from "../../abi/errors.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { connect, openSocket } from "./connection.ts";
import { ClientFixture } from "./testing.ts";
import { WireFault } from "./wire-fault.ts";

let fixture: ClientFixture;
beforeEach(() => {
  fixture = new ClientFixture();
});
afterEach(() => fixture.close());

describe("openSocket()", () => {
  it("finds nobody, and no error, where more wait than the system keeps", async () => {
    const listener = net.createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => listener.listen({ path: fixture.socketPath, backlog: 1 }, resolve));
    // all in one turn of the event loop: nobody is let in between
    const opened = await Promise.all(Array.from({ length: 20 }, () => openSocket(fixture.socketPath)));
    expect(new Set(opened.map(({ kind }) => kind))).toContain("open");
    for (const each of opened) if (each.kind === "open") each.socket.destroy();
    await new Promise((resolve) => listener.close(resolve));
  });
});

describe("openSocket() of a listener that leaves", () => {
  it("finds nobody, and no error, though it stood at the door already", async () => {
    const listener = net.createServer();
    await new Promise<void>((resolve) => listener.listen(fixture.socketPath, resolve));
    const opening = Array.from({ length: 5 }, () => openSocket(fixture.socketPath));
    listener.close();
    for (const opened of await Promise.all(opening)) if (opened.kind === "open") opened.socket.destroy();
  });
});

describe("request()", () => {
  it("sends the documented line and gives the payload; several go in order", async () => {
    let n = 0;
    const daemon = await fixture.listen(() => `{"ok":true,"payload":{"version":"${++n}"}}\n`);
    const connection = await connect(fixture.socketPath);
    const both = [connection.request("ping", {}), connection.request("ping", {})];
    expect(await Promise.all(both)).toEqual([{ version: "1" }, { version: "2" }]);
    expect(daemon.lines).toEqual(Array(2).fill('{"method":"ping","payload":{}}'));
    connection.close();
  });

  it("rejects with what the daemon refused, and goes on", async () => {
    const error = { code: "NOT_FOUND", message: "process not found: 9", syscall: "Kill", pid: 0 };
    const daemon = await fixture.listen(() => `${JSON.stringify({ ok: false, error })}\n`);
    const connection = await connect(fixture.socketPath);
    const fault: unknown = await connection.request("kill", { pid: 9 }).catch((e: unknown) => e);
    expect(fault).toBeInstanceOf(WireFault);
    expect((fault as WireFault).wire).toEqual(error);
    expect(printed(fault)).toBe("[NOT_FOUND] PID 0 Kill: process not found: 9");
    daemon.reply = () => '{"ok":true}\n';
    expect(await connection.request("kill", { pid: 1 })).toBeUndefined();
    connection.close();
  });

  it("is UNAVAILABLE when the daemon goes, or sends half a line", async () => {
    const daemon = await fixture.listen(() => '{"ok":');
    const connection = await connect(fixture.socketPath);
    const answer = connection.request("ping", {});
    await settle(10);
    daemon.hangUp();
    await expect(answer).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "daemon closed the connection",
    });
    await expect(connection.request("ping", {})).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it.each([
    ["spawn", { intent: "x" }, "the process may have been started"],
    ["mail.send", { pid: 1, text: "x" }, "the message may have been sent"],
    ["process.fork", { pid: 1 }, "the fork may have been made"],
    ["kill", { pid: 1 }, "the signal may have been sent"],
  ] as const)(
    "says of %s that was cut off that it may have happened, and what shows it",
    async (method, params, what) => {
      const daemon = await fixture.listen(() => undefined);
      const connection = await connect(fixture.socketPath);
      const answer = connection.request(method, params);
      await settle(10);
      daemon.hangUp();
      await expect(answer).rejects.toMatchObject({
        code: "UNAVAILABLE",
        message: `daemon closed the connection before it answered: ${what}`,
        fact: { kind: "cut_off", method },
      });
    },
  );

  it("is CANCELLED by its signal, which closes the connection", async () => {
    const daemon = await fixture.listen(() => undefined);
    const connection = await connect(fixture.socketPath);
    const stop = new AbortController();
    const answer = connection.request("process.wait", { pid: 1 }, stop.signal);
    await settle(10);
    stop.abort();
    await expect(answer).rejects.toMatchObject({ code: "CANCELLED" });
    while (daemon.open > 0) await settle();
  });
});

describe("stream()", () => {
  const text =
    '{"ok":true,"payload":{"pid":1}}\n{"type":"progress","payload":{"event":"step"}}\n{"type":"complete"}\n';

  it("gives the response and the lines up to the end", async () => {
    const daemon = await fixture.listen(() => text);
    const connection = await connect(fixture.socketPath);
    const stream = await connection.stream("spawn", { intent: "x" });
    expect(stream.response).toEqual({ pid: 1 });
    await settle(10);
    daemon.hangUp();
    const lines = [];
    for await (const line of stream.lines) lines.push(line);
    expect(lines).toEqual([{ type: "progress", payload: { event: "step" } }, { type: "complete" }]);
  });

  it("close() ends the lines and the connection", async () => {
    const daemon = await fixture.listen(() => text);
    const connection = await connect(fixture.socketPath);
    const stream = await connection.stream("spawn", { intent: "x" });
    for await (const line of stream.lines) {
      expect(line.type).toBe("progress");
      stream.close();
      break;
    }
    while (daemon.open > 0) await settle();
  });

  it("a signal ends the lines without an error", async () => {
    await fixture.listen(() => '{"ok":true}\n');
    const stop = new AbortController();
    const connection = await connect(fixture.socketPath);
    const stream = await connection.stream("attach_debug", { pid: 1 }, stop.signal);
    setImmediate(() => stop.abort());
    for await (const line of stream.lines) expect(line).toBeUndefined();
  });
});

describe("connect()", () => {
  it("is UNAVAILABLE where nobody listens, CANCELLED before it began", async () => {
    await expect(connect(fixture.socketPath)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(connect(fixture.socketPath, AbortSignal.abort())).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });
});
