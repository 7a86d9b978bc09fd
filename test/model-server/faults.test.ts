import { afterEach, describe, expect, it } from "vitest";
import { anthropicBody, askAnthropic, askOpenai, readEvents, readSse, send } from "./raw-client.ts";
import { blocks, cut, stall, text, toolUse } from "./reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./server.ts";

let server: ModelServer;
const start = async (script: ModelServerOptions["script"]) => {
  server = await startModelServer({ script });
};
afterEach(() => server.close());

const long = text("one two three four five six").fragment(2);
const sendMessages = () =>
  send(`${server.url}/v1/messages`, anthropicBody(), { "anthropic-version": "2023-06-01" });

describe("cut()", () => {
  it("sends exactly the events before it and breaks the body off", async () => {
    await start([long.cut({ afterEvents: 4 }), long.cut({ afterEvents: 4, reset: true })]);
    const answer = await askAnthropic(server);
    expect(answer.isComplete).toBe(false);
    expect(readSse(answer.text)).toHaveLength(4);
    const reset = await askAnthropic(server);
    expect([reset.isComplete, readSse(reset.text).length]).toEqual([false, 4]);
    expect(server.aborted).toHaveLength(0);
    await server.waitFor(() => server.openSockets === 0);
  });

  it("before the headers looks like a server that hung up", async () => {
    await start([cut({ beforeHeaders: true })]);
    await expect(askAnthropic(server)).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("breaks a complete answer in its middle", async () => {
    await start([cut()]);
    const answer = await askOpenai(server, { stream: false });
    expect(answer.isComplete).toBe(false);
    expect(() => JSON.parse(answer.text)).toThrow();
  });
});

describe("truncate()", () => {
  it("ends the body properly without the last events", async () => {
    await start([long.truncate({ afterBlocks: 1 })]);
    const answer = await askAnthropic(server);
    expect(answer.isComplete).toBe(true);
    expect(readSse(answer.text).at(-1)!.event).toBe("content_block_stop");
  });
});

describe("stall()", () => {
  it("holds the stream until the client goes, which counts as aborted", async () => {
    await start([stall({ afterEvents: 3 })]);
    const { request, answer } = sendMessages();
    const early: Buffer[] = [];
    request.on("response", (response) => response.on("data", (chunk: Buffer) => early.push(chunk)));
    await server.waitFor(() => server.inFlight === 1);
    await expect.poll(() => readSse(Buffer.concat(early).toString()).length).toBe(3);
    request.destroy();
    await server.waitFor(() => server.aborted.length === 1);
    expect(server.aborted[0]).toMatchObject({ eventsSent: 3, request: { turn: 0 } });
    expect(server.inFlight).toBe(0);
    await answer.catch(() => {});
  });

  it("goes on after its time", async () => {
    await start([long.stall({ afterEvents: 3, ms: 5 })]);
    expect(readSse((await askAnthropic(server)).text).at(-1)!.event).toBe("message_stop");
    expect(server.unexpected).toEqual([]);
  });
});

describe("until()", () => {
  it("holds the rest of a stream at a point until the gate opens", async () => {
    const gate = Promise.withResolvers<void>();
    const reply = blocks(toolUse({ name: "ls", id: "t1" }), toolUse({ name: "ls", id: "t2" }));
    await start([reply.until(gate.promise, { afterBlocks: 1 })]);
    const { request, answer } = sendMessages();
    let early = "";
    request.on("response", (response) => {
      response.on("data", (chunk: Buffer) => {
        early += chunk.toString();
      });
    });
    await expect.poll(() => readSse(early).at(-1)?.event).toBe("content_block_stop");
    expect(early).toContain('"id":"t1"');
    expect(early).not.toContain('"id":"t2"');
    gate.resolve();
    expect((await answer).text).toContain('"id":"t2"');
  });

  it("that rejects is recorded and answered with 500", async () => {
    await start([text("a").until(Promise.reject(new Error("gate broke")))]);
    expect((await askAnthropic(server)).status).toBe(500);
    expect(server.unexpected[0]!.reason).toContain("gate broke");
  });
});

describe("splitEvery()", () => {
  it("tears frames and characters apart between socket writes, losing nothing", async () => {
    const value = "grün € 😀 日本語 ".repeat(4);
    await start([text(value).splitEvery(3)]);
    const answer = await askAnthropic(server);
    expect(answer.chunks.length).toBeGreaterThan(50);
    const whole = new TextDecoder("utf-8", { fatal: true });
    const torn = answer.chunks.filter((chunk) => {
      try {
        whole.decode(chunk);
        return false;
      } catch {
        return true;
      }
    });
    expect(torn.length).toBeGreaterThan(0);
    const joined = readEvents(answer.text).map(
      (event) => (event.delta as { text?: string } | undefined)?.text ?? "",
    );
    expect(joined.join("")).toBe(value);
  });

  it("works on complete answers too", async () => {
    await start([text("grün").splitEvery(5)]);
    const answer = await askOpenai(server, { stream: false });
    expect(answer.chunks.length).toBeGreaterThan(10);
    expect(JSON.parse(answer.text).choices[0].message.content).toBe("grün");
  });
});

describe("inject()", () => {
  it("puts foreign bytes between two frames", async () => {
    await start([text("a").inject("data: {broken\n\n", { afterEvents: 2 })]);
    const events = readSse((await askAnthropic(server)).text);
    expect(events[2]).toEqual({ event: undefined, data: "{broken" });
    expect(events.at(-1)!.event).toBe("message_stop");
  });
});

describe("an action beyond the end of its reply", () => {
  it("is recorded as unexpected", async () => {
    await start([text("a").cut({ afterEvents: 99 })]);
    expect((await askAnthropic(server)).isComplete).toBe(true);
    await server.waitFor(() => server.unexpected.length === 1);
    expect(server.unexpected[0]!.reason).toMatch(/"cut" at .*99.* never reached: the reply had 7 events/);
  });
});
