import { Agent, request } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { anthropicBody, askAnthropic, askOpenai, send } from "./raw-client.ts";
import { error, stall, text, toolUse } from "./reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./server.ts";

let server: ModelServer;
const start = async (script: ModelServerOptions["script"], options: Partial<ModelServerOptions> = {}) => {
  server = await startModelServer({ script, ...options });
};
afterEach(() => server.close());

const version = { "anthropic-version": "2023-06-01" };
const withTools = { tools: [{ name: "ls", input_schema: { type: "object" } }] };

describe("scripts", () => {
  it("give one plain reply per request, and 500 when used up", async () => {
    await start([text("first"), text("second")]);
    expect((await askAnthropic(server)).text).toContain("first");
    expect((await askOpenai(server)).text).toContain("second");
    const third = await askAnthropic(server);
    expect(third.status).toBe(500);
    expect(JSON.parse(third.text).error.message).toMatch(/the script has no reply for request 3.*"hello"/);
    expect(server.unexpected).toMatchObject([
      { reason: expect.stringContaining("no reply"), request: { turn: 2 } },
    ]);
    expect(server.requests.map((seen) => [seen.turn, seen.dialect])).toEqual([
      [0, "anthropic"],
      [1, "openai"],
      [2, "anthropic"],
    ]);
  });

  it("stream a large block in a thousand pieces at most, unless the reply says how long one is", async () => {
    const large = text("word ".repeat(20_000));
    await start([large, large.fragment(24)]);
    const pieces = async (): Promise<readonly string[]> => {
      const { text: body } = await askOpenai(server, { stream: true });
      return [...body.matchAll(/"content":"([^"]*)"/g)].flatMap(([, piece = ""]) => piece || []);
    };
    const [few, many] = [await pieces(), await pieces()];
    expect([few.length, many.length]).toEqual([1_000, Math.ceil(100_000 / 24)]);
    expect(few.join("")).toBe(many.join(""));
  });

  it("as functions see the request and may take their time", async () => {
    await start(async ({ lastUserText, turn }) => text(`${turn}:${lastUserText}`).and());
    expect((await askAnthropic(server)).text).toContain("0:hello");
    expect((await askAnthropic(server)).text).toContain("1:hello");
  });

  it("that throw answer 500 and are recorded", async () => {
    await start(() => {
      throw new Error("bad script");
    });
    expect((await askAnthropic(server)).status).toBe(500);
    expect(server.unexpected[0]!.reason).toContain("bad script");
  });

  it("match by rule first, then in order, then by default", async () => {
    const entries = [
      { when: { lastUserText: "weather" }, reply: text("sunny"), times: 1 },
      { when: { lastUserText: /^count/ }, reply: [text("one"), text("two")] },
      text("plain"),
      { default: text("fallback") },
    ];
    await start(entries);
    const ask = async (content: string) => {
      const answer = await askAnthropic(server, { stream: false, messages: [{ role: "user", content }] });
      return JSON.parse(answer.text).content[0].text;
    };
    expect(await ask("count")).toBe("one");
    expect(await ask("the weather?")).toBe("sunny");
    expect(await ask("count")).toBe("two");
    expect(await ask("the weather?")).toBe("plain");
    expect(await ask("count")).toBe("fallback");
    server.use([text("new")]);
    expect(await ask("x")).toBe("new");
  });

  it("leave requests without tools to helperDefault, using up nothing", async () => {
    await start([text("for the agent")], { helperDefault: "a title" });
    expect((await askAnthropic(server)).text).toContain("a title");
    expect((await askAnthropic(server, withTools)).text).toContain("for the agent");
    expect((await askAnthropic(server, withTools)).status).toBe(500);
  });

  it("of rules alone leave what they do not match to helperDefault", async () => {
    await start([{ when: (request) => request.turn > 99, reply: text("never") }], { helperDefault: true });
    expect((await askAnthropic(server, withTools)).text).toContain("OK");
    expect(server.unexpected).toEqual([]);
  });
});

describe("the record", () => {
  it("holds headers, body and raw body of each request", async () => {
    await start(text("a"));
    await askAnthropic(server, { metadata: { user_id: "u" } }, { "user-agent": "crux/0" });
    const [seen] = server.requests;
    expect(seen).toMatchObject({ path: "/v1/messages", headers: { "user-agent": "crux/0" }, stream: true });
    expect(JSON.parse(seen!.rawBody)).toEqual(seen!.body);
    expect(seen!.body.metadata).toEqual({ user_id: "u" });
  });

  it("keeps no more than it is told, and counts the rest", async () => {
    await start(text("a"), { keepRequests: 1 });
    await askAnthropic(server);
    await askAnthropic(server);
    expect([server.requests.length, server.requestCount]).toEqual([1, 2]);
  });

  it("knows the highest concurrency and what is in flight", async () => {
    const gate = Promise.withResolvers<void>();
    await start(text("a").until(gate.promise));
    const all = [1, 2, 3].map(() => askAnthropic(server));
    await server.waitFor(() => server.inFlight === 3);
    gate.resolve();
    await Promise.all(all);
    await server.waitFor(() => server.inFlight === 0 && server.openSockets === 0);
    await askAnthropic(server);
    expect(server.maxConcurrency).toBe(3);
  });
});

describe("waitFor()", () => {
  it("rejects when its signal fires or the server closes", async () => {
    await start([]);
    const abort = new AbortController();
    const first = server.waitFor(() => false, abort.signal);
    abort.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    const second = server.waitFor(() => false);
    const failed = expect(second).rejects.toThrow("closed");
    await server.close();
    await failed;
  });
});

describe("keys", () => {
  it("are checked in both headers when one is expected", async () => {
    await start(text("a"), { apiKey: "right" });
    expect((await askAnthropic(server, {}, { "x-api-key": "right" })).status).toBe(200);
    expect((await askAnthropic(server, {}, { authorization: "Bearer right" })).status).toBe(200);
    expect((await askOpenai(server, {}, { authorization: "Bearer right" })).status).toBe(200);
    const wrong = await askAnthropic(server, {}, { "x-api-key": "wrong" });
    expect(wrong.status).toBe(401);
    expect(JSON.parse(wrong.text).error).toEqual({
      type: "authentication_error",
      message: "invalid x-api-key",
    });
    const missing = await askOpenai(server);
    expect(missing.status).toBe(401);
    expect(JSON.parse(missing.text).error.message).toMatch(/didn't provide an API key/);
    expect(server.rejected).toHaveLength(2);
  });
});

describe("other endpoints", () => {
  it("list models in the dialect of the caller", async () => {
    await start([], { models: ["m-1", "m-2"] });
    const claude = JSON.parse((await send(`${server.url}/v1/models`, undefined, version, "GET").answer).text);
    expect(claude).toMatchObject({
      data: [{ type: "model", id: "m-1" }, {}],
      has_more: false,
      last_id: "m-2",
    });
    const gpt = JSON.parse((await send(`${server.url}/v1/models`, undefined, {}, "GET").answer).text);
    expect(gpt).toMatchObject({ object: "list", data: [{ id: "m-1", object: "model" }, {}] });
    expect((await send(`${server.url}/v1/models/m-3`, undefined, version, "GET").answer).status).toBe(404);
    expect((await send(`${server.url}/v1/models/m-2`, undefined, {}, "GET").answer).status).toBe(200);
  });

  it("count tokens without max_tokens and outside the script", async () => {
    await start([]);
    const url = `${server.url}/v1/messages/count_tokens?beta=true`;
    const answer = await send(url, anthropicBody({ max_tokens: undefined }), version).answer;
    expect(JSON.parse(answer.text)).toEqual({ input_tokens: expect.any(Number) });
    expect(server.requests).toHaveLength(0);
    expect(server.sideRequests).toMatchObject([{ path: "/v1/messages/count_tokens", status: 200 }]);
  });

  it("are 404 in the vendor's words, probes included", async () => {
    await start([]);
    const head = await send(`${server.url}/`, undefined, {}, "HEAD").answer;
    expect([head.status, head.text]).toEqual([404, ""]);
    const call = await send(`${server.url}/api/event_logging/batch`, {}).answer;
    expect([call.status, JSON.parse(call.text).error.type]).toEqual([404, "not_found_error"]);
    const embeddings = await send(`${server.url}/v1/embeddings`, {}).answer;
    expect(JSON.parse(embeddings.text).error.message).toBe("Invalid URL (POST /v1/embeddings)");
    const get = await send(`${server.url}/v1/messages`, undefined, {}, "GET").answer;
    expect(get.status).toBe(405);
    expect(server.sideRequests.map((side) => side.status)).toEqual([404, 404, 404, 405]);
  });
});

describe("close()", () => {
  it("ends stalled replies, idle and silent sockets, and is idempotent", async () => {
    await start([stall(), text("a")]);
    const agent = new Agent({ keepAlive: true });
    const stalled = askAnthropic(server).catch(() => undefined);
    await server.waitFor(() => server.inFlight === 1);
    const idle = Promise.withResolvers<void>();
    const call = request(`${server.url}/`, { agent, method: "HEAD" }, (response) => {
      response.resume().on("end", idle.resolve);
    });
    call.end();
    await idle.promise;
    const silent = connect(server.port, "127.0.0.1").on("error", () => {});
    await server.waitFor(() => server.openSockets === 3);
    await Promise.all([server.close(), server.close()]);
    expect(server.openSockets).toBe(0);
    expect(server.aborted).toEqual([]);
    await stalled;
    silent.destroy();
    agent.destroy();
  });

  it("does not wait for a script that never answers", async () => {
    await start(() => new Promise(() => {}));
    const answer = askAnthropic(server).catch(() => undefined);
    await server.waitFor(() => server.inFlight === 1);
    await server.close();
    await answer;
  });
});

describe("ids", () => {
  it("repeat with a seed and differ without", async () => {
    const idsOf = async (options: Partial<ModelServerOptions>) => {
      await start([toolUse({ name: "ls" })], options);
      const { id, content } = JSON.parse((await askAnthropic(server, { stream: false })).text);
      await server.close();
      return [id, content[0].id];
    };
    expect(await idsOf({ seed: "s" })).toEqual(await idsOf({ seed: "s" }));
    expect(await idsOf({})).not.toEqual(await idsOf({}));
  });
});

describe("validate: false", () => {
  it("takes anything that is a JSON object", async () => {
    await start([error(429), text("a")], { validate: false });
    expect((await send(`${server.url}/v1/messages`, {}).answer).status).toBe(429);
    expect((await send(`${server.url}/v1/messages`, { messages: 3 }).answer).status).toBe(200);
  });
});
