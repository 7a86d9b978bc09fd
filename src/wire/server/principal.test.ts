/** Who may call what: a user with and without the cookie, a program of an agent, and who nobody knows. */
import { existsSync, statSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import { METHODS, type MethodName } from "../../abi/methods/methods.ts";
import type { Syscalls } from "../../abi/sys.ts";
import type { ChildClient } from "../../kernel/ports/kernel-api.ts";
import { authorize } from "./authority.ts";
import { type Peer, type Principal, principalOf } from "./principal.ts";
import { ProcessSockets } from "./process-sockets.ts";
import { procInfo } from "./testing/fake-kernel.ts";
import { type RawClient, ServerFixture } from "./testing/fixture.ts";

const COOKIE = "c".repeat(64);
const sent: unknown[] = [];
const sys = {
  send: async (pid: number, data: Uint8Array) => void sent.push([pid, Buffer.from(data).toString()]),
} as unknown as Syscalls;

function child(more: Partial<ChildClient> = {}): ChildClient {
  const list = () => [procInfo(7)];
  return {
    uuid: asProcUuid("u"),
    pid: asPid(7),
    line: "line",
    isPersons: false,
    list,
    sees: (pid) => pid === 7,
    controls: (pid) => pid === 7,
    hears: async () => {},
    sys: null,
    ...more,
  };
}

let fixture: ServerFixture;
let peer: Peer;
let sockets: ProcessSockets;
beforeEach(async () => {
  peer = { kind: "own", uid: 1 };
  sent.length = 0;
  fixture = new ServerFixture();
  sockets = new ProcessSockets(fixture.socketPath, () => {});
  fixture.options = { cookie: COOKIE, peerOf: () => peer, processSockets: sockets };
  fixture.kernel.procs = [procInfo(1), procInfo(7)];
  await fixture.start();
});
afterEach(() => fixture.close());

const codeOf = (line: string): string => JSON.parse(line).error?.code ?? "ok";
const ask = async (client: RawClient, method: string, payload: object = {}) =>
  codeOf(await client.ask(JSON.stringify({ method, payload })));
const answer = (client: RawClient) => ask(client, "ask.answer", { ask_id: "a_1", answer: "yes" });

describe("a user", () => {
  it("looks, starts and controls without the cookie, and answers and administers only with it", async () => {
    const client = await fixture.connect();
    expect(await ask(client, "list_procs")).toBe("ok");
    expect(await ask(client, "kill", { pid: 1 })).toBe("ok");
    expect([await answer(client), await ask(client, "shutdown")]).toEqual(["PERMISSION", "PERMISSION"]);
    expect([fixture.kernel.answers, fixture.shutdowns]).toEqual([[], 0]);
    expect(await ask(client, "auth", { cookie: "d".repeat(64) })).toBe("PERMISSION");
    expect(await answer(client)).toBe("PERMISSION");
    expect(await client.ask(JSON.stringify({ method: "auth", payload: { cookie: COOKIE } }))).toBe(
      '{"ok":true,"payload":{"principal":"user"}}\n',
    );
    expect(await answer(client)).toBe("ok");
    expect(fixture.kernel.answeredMore).toEqual([{ by: { principal: "user", client: "", uid: 1 } }]);
    const other = await fixture.connect();
    expect(await answer(other)).toBe("PERMISSION");
  });

  it("of another id is refused whatever it shows", async () => {
    peer = { kind: "other_user", uid: 2 };
    const client = await fixture.connect();
    expect(codeOf(await client.line())).toBe("PERMISSION");
    expect(fixture.logged.join()).toContain("user 2");
  });

  it("without the cookie does not speak under the name of another client", async () => {
    const [first, second] = [await fixture.connect(), await fixture.connect()];
    const say = (client: RawClient) => ask(client, "session.say", { pid: 1, text: "x", client: "abc" });
    fixture.kernel.init.send = (async () => ({ seq: 1, ahead: 0 })) as unknown as Syscalls["send"];
    expect([await say(first), await say(first), await say(second)]).toEqual(["ok", "ok", "PERMISSION"]);
    await ask(second, "auth", { cookie: COOKIE });
    expect(await say(second)).toBe("ok");
  });
});

describe("a program that an agent started", () => {
  beforeEach(() => {
    fixture.kernel.children.set("u7", child());
    peer = { kind: "child", uuid: "u7" };
  });

  it("is that process on the user's socket, and stays it with the right cookie", async () => {
    const client = await fixture.connect();
    expect(await client.ask(JSON.stringify({ method: "auth", payload: { cookie: COOKIE } }))).toContain(
      '"principal":"process:7"',
    );
    expect(await answer(client)).toBe("PERMISSION");
    expect(fixture.kernel.answers).toEqual([]);
  });

  it("sees what its process sees and no more", async () => {
    const client = await fixture.connect();
    const { payload } = JSON.parse(await client.ask('{"method":"list_procs"}'));
    expect(payload.processes.map(({ pid }: { pid: number }) => pid)).toEqual([7]);
    expect(await ask(client, "process.logs", { pid: 1 })).toBe("NOT_FOUND");
    expect(await ask(client, "process.steps", { pid: 7 })).toBe("ok");
  });

  it("may call nothing that is not listed for it: no other method reaches the kernel", async () => {
    const listed = ["ping", "auth", "list_procs", "process.list", "kernel.status", "kernel.metrics"];
    const own = ["process.logs", "process.steps"];
    const agent: Principal = { kind: "process", client: child() };
    const program: Principal = { kind: "process", client: child({ sys }) };
    for (const method of Object.keys(METHODS) as MethodName[]) {
      const code = (who: Principal, cookie = true) => {
        try {
          authorize(who, method, { pid: 7 }, cookie);
          return "ok";
        } catch (error) {
          return (error as { code: string }).code;
        }
      };
      const mayLook = listed.includes(method) || own.includes(method);
      expect([method, code(agent)]).toEqual([method, mayLook ? "ok" : "PERMISSION"]);
      const mayAct = mayLook || method === "spawn" || method === "mail.send";
      expect([method, code(program)]).toEqual([method, mayAct ? "ok" : "PERMISSION"]);
      expect([method, code({ kind: "guest" })]).toEqual([
        method,
        method === "ping" || method === "auth" ? "ok" : "PERMISSION",
      ]);
      const { right } = METHODS[method];
      const needs = right === "approve" || right === "admin";
      const user: Principal = { kind: "user", isProven: false, uid: 1 };
      expect([method, code(user)]).toEqual([method, needs ? "PERMISSION" : "ok"]);
      expect(code({ ...user, isProven: true })).toBe("ok");
    }
  });

  it("is told of a process once its own has the labels of that one: its steps, its place in a list", async () => {
    const heard: number[] = [];
    const hears = async (pid: number) => void heard.push(pid);
    fixture.kernel.children.set("u7", child({ hears }));
    const client = await fixture.connect();
    const asked: [string, object][] = [
      ["list_procs", {}],
      ["process.list", {}],
      ["process.steps", { pid: 7 }],
    ];
    for (const [method, payload] of asked) {
      expect([method, await ask(client, method, payload)]).toEqual([method, "ok"]);
      expect([method, heard.splice(0)]).toEqual([method, [7]]);
    }
  });

  it("by its own socket is that process too; where it has a process of its own it sends as that", async () => {
    fixture.kernel.children.set("u7", child({ sys }));
    peer = { kind: "own", uid: 1 };
    const client = await fixture.connect(sockets.open("u7"));
    expect(statSync(sockets.pathOf("u7")).mode & 0o777).toBe(0o600);
    expect(await answer(client)).toBe("PERMISSION");
    expect(await ask(client, "mail.send", { pid: 1, text: "hi" })).toBe("ok");
    expect([sent, fixture.kernel.sent]).toEqual([[[1, "hi"]], []]);
    expect(await ask(client, "session.say", { pid: 1, text: "x", client: "abc" })).toBe("PERMISSION");
    expect(await ask(client, "spawn", { intent: "x", client: "abc", detach: true })).toBe("PERMISSION");
  });

  it("gets nothing by the socket of another process that it would not get by its own", () => {
    const find = (uuid: string) => fixture.kernel.clientOf(uuid);
    fixture.kernel.children.set("u8", child({ pid: asPid(8), sys }));
    expect(principalOf({ kind: "child", uuid: "u7" }, "u8", find)).toMatchObject({ client: { pid: 7 } });
    expect(principalOf({ kind: "own", uid: 1 }, "u9", find)).toEqual({ kind: "guest" });
    expect(principalOf({ kind: "gone" }, null, find)).toEqual({ kind: "guest" });
    expect(principalOf({ kind: "child", uuid: null }, null, find)).toEqual({ kind: "guest" });
  });

  it("that a person started is the person's own", async () => {
    fixture.kernel.children.set("u7", child({ isPersons: true }));
    const client = await fixture.connect();
    await ask(client, "auth", { cookie: COOKIE });
    expect(await answer(client)).toBe("ok");
  });
});

describe("ProcessSockets", () => {
  it("go with their process, all with the server, and what an earlier daemon left is removed", async () => {
    const path = sockets.open("u1");
    expect([sockets.open("u1"), existsSync(path), sockets.size]).toEqual([path, true, 1]);
    sockets.close("u1");
    expect([existsSync(path), sockets.size]).toEqual([false, 0]);
    const left = sockets.open("u2");
    new ProcessSockets(fixture.socketPath, () => {});
    expect(existsSync(left)).toBe(false);
    sockets.open("u3");
    await fixture.server.close();
    expect([sockets.size, existsSync(`${fixture.socketPath}.d`)]).toEqual([0, false]);
  });

  it("are the user's own where the system takes no path so long", () => {
    const main = `/tmp/${"x".repeat(90)}/crux.sock`;
    expect(new ProcessSockets(main, () => {}).open("u1")).toBe(main);
  });
});
