import { expect, onTestFinished, test } from "vitest";
import type { ControlAsk } from "../../abi/print/print.ts";
import { ToolServers } from "./tool-servers.ts";

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
type Asked = Extract<ControlAsk, { type: "control_request" }>;

async function opened() {
  const asked: ControlAsk[] = [];
  let wake: () => void = () => {};
  const servers = new ToolServers((line) => {
    asked.push(line);
    wake();
  });
  onTestFinished(() => servers[Symbol.dispose]());
  servers.add(["my tools"]);
  const { my_tools: entry } = await servers.entries();
  const { url, headers } = entry as { url: string; headers: Record<string, string> };
  const post = (message: object, own = headers) =>
    fetch(url, { method: "POST", body: JSON.stringify(message), headers: own });
  /** The next line that is asked. */
  const next = async (): Promise<ControlAsk> => {
    while (asked.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return asked.shift() as ControlAsk;
  };
  return { servers, url, headers, post, next };
}

test("a message becomes a request, and its answer the answer of the server", async () => {
  const { servers, post, next } = await opened();
  const answer = post(PING);
  const { request_id, request } = (await next()) as Asked;
  expect(request).toEqual({ subtype: "mcp_message", server_name: "my tools", message: PING });
  const mcp_response = { jsonrpc: "2.0", id: 1, result: { ok: true } };
  expect(servers.answered({ kind: "answer", id: request_id, response: { mcp_response } })).toBe(true);
  expect(await (await answer).json()).toEqual(mcp_response);
  expect(servers.answered({ kind: "answer", id: request_id, response: {} })).toBe(false);
});

test("nobody without the token is heard, and only servers that were named are there", async () => {
  const { servers, url, headers, post } = await opened();
  expect((await post(PING, {})).status).toBe(401);
  expect((await post(PING, { authorization: "Bearer x" })).status).toBe(401);
  expect((await fetch(`${url}x`, { headers })).status).toBe(404);
  expect(() => servers.sent({ server_name: "other", message: PING })).toThrow("no such server: other");
});

test("what a server sends unasked reaches whoever listens", async () => {
  const { servers, url, headers } = await opened();
  const stream = await fetch(url, { headers });
  const message = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  servers.sent({ server_name: "my tools", message });
  const { value } = (await stream.body?.getReader().read()) ?? {};
  expect(Buffer.from(value ?? []).toString()).toBe(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
});

test("a listener that does not read is left once 10 MiB are unread, and the next one is heard", async () => {
  const { servers, url, headers } = await opened();
  const fields = { server_name: "my tools", message: { jsonrpc: "2.0", method: "x".repeat(1024 * 1024) } };
  const stalled = await fetch(url, { headers });
  for (let n = 0; n < 40; n++) servers.sent(fields);
  await expect(stalled.arrayBuffer()).rejects.toThrow();
  const stream = await fetch(url, { headers });
  servers.sent({ ...fields, message: PING });
  const { value } = (await stream.body?.getReader().read()) ?? {};
  expect(Buffer.from(value ?? []).toString()).toContain("ping");
});

test("a request that is given up is cancelled, and its late answer is no mistake", async () => {
  const { servers, url, headers, next } = await opened();
  const stop = new AbortController();
  const body = JSON.stringify(PING);
  const given = fetch(url, { method: "POST", body, headers, signal: stop.signal });
  const { request_id } = (await next()) as Asked;
  stop.abort();
  await expect(given).rejects.toThrow();
  expect(await next()).toEqual({ type: "control_cancel_request", request_id });
  const late = { kind: "answer", id: request_id, response: {} } as const;
  expect([servers.answered(late), servers.answered(late)]).toEqual([true, false]);
});

test("once stdin has ended, every request fails", async () => {
  const { servers, post, next } = await opened();
  const waiting = post(PING);
  await next();
  servers.end();
  const error = { code: -32_000, message: "the program that has this server does not answer" };
  expect(await (await waiting).json()).toEqual({ jsonrpc: "2.0", id: 1, error });
  expect(await (await post(PING)).json()).toMatchObject({ error });
});
