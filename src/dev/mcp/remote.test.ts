import { describe, expect, test } from "vitest";
import type { McpConfig } from "../../abi/mcp.ts";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { until } from "../testing.ts";
import { boundedFetch } from "./connection.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { PooledTransport } from "./pooled-transport.ts";
import { HttpServer } from "./testing/http-server.ts";
import { rig } from "./testing/rig.ts";

const never = new AbortController().signal;
const at = (server: HttpServer, headers: Record<string, string> = {}): McpConfig => ({
  type: "http",
  url: server.url,
  headers,
});

async function call(transport: PooledTransport, name: string): Promise<unknown> {
  const { tools } = await transport.catalogue("Open", never);
  return transport.callTool(tools.find((tool) => tool.name === name)!, {}, never);
}

describe("a remote server", () => {
  test("is sent the headers of its entry with every request", async () => {
    const server = await HttpServer.start();
    const transport = await rig(systemClock).connected(at(server, { authorization: "Bearer own" }));
    expect(await call(transport, "echo")).toEqual({ content: [{ type: "text", text: "hello" }] });
    expect(new Set(server.headers.map(({ authorization }) => authorization))).toEqual(
      new Set(["Bearer own"]),
    );
    expect(server.headers[0]!["user-agent"]).toBe("crux/0.0.0");
  });

  test("of the transport before streamable HTTP is called over its stream", async () => {
    const server = await HttpServer.start();
    const config = {
      ...at(server, { authorization: "Bearer own" }),
      url: server.sseUrl,
      sse: true,
    } as McpConfig;
    const transport = await rig(systemClock).connected(config);
    expect(await call(transport, "echo")).toEqual({ content: [{ type: "text", text: "hello" }] });
    expect([server.calls, new Set(server.headers.map(({ authorization }) => authorization))]).toEqual([
      ["echo"],
      new Set(["Bearer own"]),
    ]);
  });

  test("that has forgotten the session: a new one is made and the call sent once more, for it was not done", async () => {
    const clock = new VirtualClock();
    const server = await HttpServer.start();
    const transport = await rig(clock).connected(at(server));
    server.forget();
    const answer = call(transport, "echo");
    answer.catch(() => {});
    for (let i = 0; server.calls.length === 0 && i < 1_000; i++) {
      await clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(await answer).toEqual({ content: [{ type: "text", text: "hello" }] });
    expect(server.calls).toEqual(["echo"]);
    expect(transport.state).toBe("connected");
  });

  test.each([
    ["break", "DRIVER", /^break: the connection broke \(\w+\): its outcome is unknown$/],
    ["gone", "DRIVER", /^gone: HTTP 503: its outcome is unknown$/],
    ["huge", "DRIVER", /^huge: it sent a message of more than 10485760 bytes$/],
  ])("whose answer to %s does not come: the call is not sent again", async (name, code, message) => {
    const server = await HttpServer.start();
    const transport = await rig(systemClock).connected(at(server));
    await expect(call(transport, name)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
    expect(server.calls).toEqual([name]);
    await transport.close();
  });

  test.each([
    [401, "the server wants to know who asks (HTTP 401): give it a header in its entry"],
    [403, "the server wants to know who asks (HTTP 403): give it a header in its entry"],
  ])("that answers %i is not connected, and says what to do", async (status, problem) => {
    const server = await HttpServer.start();
    server.status = status;
    const transport = rig(systemClock).transport(at(server));
    await expect(transport.connect(never)).rejects.toMatchObject({ code: "UNAVAILABLE", message: problem });
    expect([transport.state, transport.problem]).toEqual(["failed", problem]);
  });

  test("that answers 500 to everything fails in words", async () => {
    const server = await HttpServer.start();
    server.status = 500;
    const transport = rig(systemClock).transport(at(server));
    await expect(transport.connect(never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(transport.problem).toContain("HTTP 500");
  });

  test("that is gone makes its mounts pending", async () => {
    const clock = new VirtualClock();
    const server = await HttpServer.start();
    const r = rig(clock);
    const transport = await r.connected(at(server));
    await server.stop();
    // a connection that was kept open breaks, a new one is refused
    await expect(call(transport, "echo")).rejects.toThrow(/^echo: (nobody answers|the connection broke)/);
    await until(() => transport.state === "pending", "it is known to be gone");
    expect(r.told[0]).toMatch(/^warn: MCP server http: .*: it is gone: .*; starting it again in 1 s$/);
  });
});

describe("boundedFetch()", () => {
  const fetched = (chunks: string[], type: string) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        controller.close();
      },
    });
    return boundedFetch(async () => new Response(body, { headers: { "content-type": type } }))("http://x");
  };
  const mib = "x".repeat(1024 * 1024);

  test("passes what fits, byte for byte", async () => {
    const response = await fetched(["{}", mib], "application/json");
    expect(await response.text()).toBe(`{}${mib}`);
  });

  test("fails a message that is too long", async () => {
    const response = await fetched(
      Array.from({ length: 11 }, () => mib),
      "application/json",
    );
    await expect(response.text()).rejects.toThrow(`more than ${MCP_LIMITS.messageBytes} bytes`);
  });

  test.each(["\n\n", "\r\n\r\n"])("counts a stream by its events (%j)", async (end) => {
    const events = Array.from({ length: 30 }, () => `data: ${mib}${end}`);
    const response = await fetched(events, "text/event-stream; charset=utf-8");
    expect((await response.text()).length).toBeGreaterThan(30 * mib.length);
    const endless = await fetched(
      Array.from({ length: 11 }, () => `data: ${mib}\n`),
      "text/event-stream",
    );
    await expect(endless.text()).rejects.toThrow("bytes");
  });
});
