/** `crux acp-link`: an agent of stdin and stdout on a WebSocket, for who shows the token. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { onSharedStage, serveInTurn, world } from "./harness/stage.ts";
import { CRUX, type Running, settled } from "./harness/world.ts";
import { text } from "./model-server/reply.ts";

onSharedStage();

interface Open {
  readonly url: string;
  readonly token: string;
  readonly link: Running;
}

async function open(...flags: string[]): Promise<Open> {
  await serveInTurn(text("Over the socket."));
  const link = world.start(["acp-link", "--port", "0", ...flags, "--", CRUX, "acp"]);
  await link.seen(/token: \S+\n/);
  const [, url = ""] = /^\[acp-link\] (ws:\S+)$/m.exec(link.stdout()) ?? [];
  const [, token = ""] = /token: (\S+)/.exec(link.stdout()) ?? [];
  return { url, token, link };
}

/** The status of a refusal, or the open socket. */
async function connect(url: string, options: { headers?: Record<string, string>; protocols?: string[] }) {
  const socket = new WebSocket(url, options.protocols ?? [], { headers: options.headers ?? {} });
  const [status] = await Promise.race([
    once(socket, "open").then(() => [101]),
    once(socket, "unexpected-response").then(([, { statusCode }]) => [statusCode as number]),
  ]);
  return { socket, status };
}

async function closed({ link }: Open): Promise<void> {
  link.child.kill("SIGTERM");
  expect((await link.done).code).toBe(143);
}

describe("crux acp-link", () => {
  it("relays a session, and ends its agent with the socket", async () => {
    const opened = await open();
    const { socket } = await connect(opened.url, { headers: { authorization: `Bearer ${opened.token}` } });
    const seen: {
      id?: number;
      result?: Record<string, unknown>;
      params?: { update?: { sessionUpdate: string } };
    }[] = [];
    socket.on("message", (data) => seen.push(JSON.parse(String(data))));
    const ask = async (id: number, method: string, params: object) => {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }, null, 2));
      await settled(
        () => seen.some((each) => each.id === id),
        (isThere) => isThere,
      );
      return seen.find((each) => each.id === id)?.result;
    };
    expect(await ask(1, "initialize", { protocolVersion: 1 })).toMatchObject({ protocolVersion: 1 });
    const session = await ask(2, "session/new", { cwd: world.work, mcpServers: [] });
    const prompt = [{ type: "text", text: "hello" }];
    const answer = await ask(3, "session/prompt", { sessionId: session!.sessionId, prompt });
    expect(answer).toEqual({ stopReason: "end_turn" });
    expect(JSON.stringify(seen)).toContain("Over the socket.");
    socket.close();
    expect(
      await settled(
        () => world.commands(/main\.cjs acp$/).length,
        (count) => count === 0,
      ),
    ).toBe(0);
    await closed(opened);
  });

  it("is closed to who has no token, shows it in the address, or comes from another site", async () => {
    const opened = await open();
    const { url, token } = opened;
    const authorization = `Bearer ${token}`;
    const status = async (at: string, headers: Record<string, string>) =>
      (await connect(at, { headers })).status;
    expect(await status(url, {})).toBe(401);
    expect(await status(url, { authorization: "Bearer wrong" })).toBe(401);
    expect(await status(`${url}?token=${token}`, { authorization })).toBe(400);
    expect(await status(url, { authorization, origin: "http://localhost.evil.example" })).toBe(403);
    expect(await status(url, { authorization, origin: "null" })).toBe(403);
    expect(await status(url, { authorization, host: "evil.example" })).toBe(403);
    const coded = `crux.auth.${Buffer.from(token).toString("base64url")}`;
    const { socket, status: accepted } = await connect(url, { protocols: ["crux.v1", coded] });
    expect([accepted, socket.protocol]).toEqual([101, "crux.v1"]);
    socket.close();
    await closed(opened);
  });

  it("closes a socket that sends what is too large, or bytes, and logs both", async () => {
    const opened = await open();
    const headers = { authorization: `Bearer ${opened.token}` };
    for (const [frame, code] of [
      ["x".repeat(11 * 1024 * 1024), 1009],
      [Buffer.from("bytes"), 1003],
    ] as const) {
      const { socket } = await connect(opened.url, { headers });
      socket.send(frame);
      const [closedWith] = await once(socket, "close");
      expect(closedWith).toBe(code);
    }
    await closed(opened);
    expect((await opened.link.done).stderr).toContain(
      "[acp-link] connection 1: a message of more than 10485760 bytes; closed with 1009\n" +
        "[acp-link] connection 2: a message that is not text; closed with 1003\n",
    );
  });

  it("takes a token of the user's own, which nobody else can read, and no other address without TLS", async () => {
    await serveInTurn(text("never asked"));
    const file = join(world.dir, "token");
    writeFileSync(file, "a-token-of-my-own\n", { mode: 0o644 });
    const args = ["acp-link", "--port", "0", "--token-file", file, "--", "cat"];
    expect(await world.crux(args)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/others can read the token/),
    });
    const wide = await world.crux(["acp-link", "--host", "0.0.0.0", "--", "cat"]);
    expect(wide).toMatchObject({ code: 1, stderr: expect.stringMatching(/that needs TLS/) });
  });
});
