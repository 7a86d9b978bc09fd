import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { OpenFile } from "../../abi/device.ts";
import type { StreamEvent } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import { settle, VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { cardOf } from "../cards.ts";
import { contractRequest } from "../contract.ts";
import { type Scene, TestDriver, testAct, testCaller, textReply } from "../testing/callers.ts";
import { llmDevice } from "./devices.ts";

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const none = new AbortController().signal;

async function readAll(file: OpenFile, length = 64): Promise<string> {
  const parts: Uint8Array[] = [];
  for (;;) {
    const part = await file.read(length, none);
    if (part.byteLength === 0) return Buffer.concat(parts).toString("utf8");
    parts.push(part);
  }
}

function open(scene: Scene, clock = new VirtualClock(), env: Record<string, string> = {}): Promise<OpenFile> {
  const device = llmDevice({ name: "test", clock, make: () => new TestDriver(scene) });
  return device.open("", 2, testCaller({ env }));
}

/** One event, then silence until the attempt is ended. */
const silent: Scene = async function* (_request, signal) {
  yield { type: "ping" } satisfies StreamEvent;
  await new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
};

describe("llmDevice()", () => {
  it("answers the short form with one object", async () => {
    const file = await open(() => textReply("Hello, ", "world."));
    await file.write(bytes({ intent: "Greet" }), testAct());
    expect(JSON.parse(await readAll(file))).toEqual({ content: "Hello, world.", tokens_used: 15 });
  });

  it("lets the server keep the prompts of a source for an hour, and keeps to that while its file is open", async () => {
    const sources = ["main:reviewer"];
    const seen: unknown[] = [];
    const driver = new TestDriver((request) => {
      seen.push([request.purpose, request.cacheTtl]);
      return textReply("ok");
    });
    driver.card = () => cardOf("anthropic", "opus");
    const settings = () => ({ promptCache: { longTtlSources: sources } });
    const device = llmDevice({ name: "test", clock: new VirtualClock(), make: () => driver, settings });
    const file = await device.open("", 2, testCaller({ agent: "reviewer" }));
    const ask = async (purpose: "main" | "compact") => {
      await file.write(bytes(contractRequest({ purpose, stream: false })), testAct());
      await readAll(file);
    };
    await ask("main");
    sources[0] = "compact:*";
    await ask("main");
    await ask("compact");
    expect(seen).toEqual([
      ["main", "1h"],
      ["main", "1h"],
      ["compact", "1h"],
    ]);
    const other = await device.open("", 2, testCaller({ agent: "other" }));
    await other.write(bytes(contractRequest({ stream: false })), testAct());
    expect(seen.at(-1)).toEqual(["main", "5m"]);
  });

  it("takes back a call without a name, and counts no fewer than no tokens", async () => {
    const file = await open(async function* () {
      for await (const event of textReply("ok"))
        yield event.type === "message_delta"
          ? { ...event, usage: { ...event.usage, output_tokens: -50 } }
          : event;
    });
    const call = { type: "tool_use", id: "c1", name: "", input: {} } as const;
    const result = { type: "tool_result", tool_use_id: "c1", content: "no name" } as const;
    const messages = [
      ...contractRequest().messages,
      { role: "assistant" as const, content: [call] },
      { role: "user" as const, content: [result] },
    ];
    await file.write(bytes(contractRequest({ messages })), testAct());
    expect(await readAll(file)).toContain('"output_tokens":0');
    expect(file.charge?.()).toMatchObject({ usage: { output_tokens: 0 } });
  });

  it("takes intent as the user's message only where messages have none", async () => {
    const seen: unknown[] = [];
    const file = await open((request) => {
      seen.push(
        request.messages.map(({ content }) => content),
        request.system.map(({ text }) => text),
        request.model,
      );
      return textReply("ok");
    });
    const messages = [{ role: "user", content: "from messages" }];
    await file.write(bytes({ intent: "unused", messages, system_prompt: "S", model: "m" }), testAct());
    expect(seen).toEqual([[[{ type: "text", text: "from messages" }]], ["S"], "m"]);
  });

  it("gives finished blocks without deltas when no stream is asked for, over several reads", async () => {
    const file = await open(() => textReply("Hel", "lo"));
    await file.write(bytes(contractRequest({ stream: false })), testAct());
    const events = (await readAll(file, 7))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).not.toContain("content_block_delta");
    expect(events[1]).toMatchObject({ content_block: { text: "Hello" } });
  });

  it("lets events be read while the write still runs", async () => {
    const gate = Promise.withResolvers<void>();
    const file = await open(async function* () {
      for await (const event of textReply("one", "two")) {
        if (event.type === "content_block_stop") await gate.promise;
        yield event;
      }
    });
    const written = file.write(bytes(contractRequest()), testAct());
    const first = Buffer.from(await file.read(100_000, none)).toString();
    expect(first).toContain("message_start");
    gate.resolve();
    const rest = await readAll(file);
    await written;
    expect(first + rest).toContain("message_stop");
  });

  describe("ahead()", () => {
    const call = { type: "tool_use", id: "t1", name: "ls", input: {} } as const;
    /** A text, a call, and after the gate the rest. */
    const withCall = (gate: Promise<unknown>): Scene =>
      async function* () {
        for await (const event of textReply("I look.")) {
          if (event.type === "message_delta") {
            yield { type: "content_block_start", index: 1, content_block: call };
            const delta = { type: "input_json_delta", partial_json: '{"path":"a"}' } as const;
            yield { type: "content_block_delta", index: 1, delta };
            yield { type: "content_block_stop", index: 1 };
            await gate;
          }
          yield event;
        }
      };
    const request = bytes(contractRequest({ stream: false }));
    /** The timers and the turn of the event loop after them. */
    const pass = async (clock: VirtualClock, ms: number): Promise<void> => {
      await clock.advance(ms);
      await settle();
    };

    it("is true once a whole call has waited for the rest of its reply, and the rest is read after", async () => {
      const clock = new VirtualClock();
      const gate = Promise.withResolvers<void>();
      const file = await open(withCall(gate.promise), clock);
      let isAhead: boolean | undefined;
      const looked = file.ahead?.(none).then((is) => {
        isAhead = is;
      });
      const written = file.write(request, testAct());
      await pass(clock, 9);
      expect(isAhead).toBeUndefined();
      await pass(clock, 1);
      await looked;
      expect(isAhead).toBe(true);
      const part = Buffer.from(await file.read(65_536, none)).toString();
      expect(part).toContain('"input":{"path":"a"}');
      expect(part).not.toContain("message_stop");
      const again = file.ahead?.(none);
      gate.resolve();
      expect(await again).toBe(false);
      await written;
      expect(await readAll(file)).toContain("message_stop");
    });

    it("is false for a reply that ends with its call, which is read in one piece", async () => {
      const file = await open(withCall(Promise.resolve()));
      const isAhead = file.ahead?.(none);
      await file.write(request, testAct());
      expect(await isAhead).toBe(false);
      const whole = Buffer.from(await file.read(65_536, none)).toString();
      expect(whole).toContain("message_stop");
    });

    it("is false for an attempt that fails, and rejects when the signal fires first", async () => {
      const file = await open(() => {
        throw new LlmError({ kind: "overloaded", message: "busy" });
      });
      const isAhead = file.ahead?.(none);
      await expect(file.write(request, testAct())).rejects.toMatchObject({ kind: "overloaded" });
      expect(await isAhead).toBe(false);
      const over = new AbortController();
      const waits = file.ahead?.(over.signal);
      over.abort();
      await expect(waits).rejects.toMatchObject({ name: "AbortError" });
    });
  });

  it("keeps the attempt waiting while a megabyte is unread", async () => {
    let made = 0;
    const part = "x".repeat(64 * 1024);
    const file = await open(async function* () {
      for await (const event of textReply(...Array.from({ length: 64 }, () => part))) {
        made++;
        yield event;
      }
    });
    const written = file.write(bytes(contractRequest()), testAct());
    await settle();
    expect(made).toBeLessThan(30);
    const all = await readAll(file, 1024 * 1024);
    await written;
    expect(all.length).toBeGreaterThan(64 * part.length);
  });

  it("refuses a read before a write, and a write while a reply is unread", async () => {
    const file = await open(() => textReply("Hello"));
    await expect(file.read(10, none)).rejects.toMatchObject({ code: "INVALID" });
    await file.write(bytes({ intent: "Greet" }), testAct());
    await expect(file.write(bytes({ intent: "Again" }), testAct())).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await readAll(file);
    await file.write(bytes({ intent: "Again" }), testAct());
  });

  it("takes a new write after one that failed", async () => {
    let attempts = 0;
    const file = await open(() => {
      if (attempts++ === 0) throw new LlmError({ kind: "overloaded", message: "busy" });
      return textReply("ok");
    });
    await expect(file.write(bytes({ intent: "x" }), testAct())).rejects.toMatchObject({ kind: "overloaded" });
    await expect(file.read(10, none)).rejects.toMatchObject({ kind: "overloaded" });
    await file.write(bytes({ intent: "x" }), testAct());
    expect(await readAll(file)).toContain("ok");
  });

  it("takes a reply without a stop reason for a broken one, with and without streaming", async () => {
    for (const stream of [true, false]) {
      const file = await open(async function* () {
        for await (const event of textReply("half")) if (event.type !== "message_delta") yield event;
      });
      await expect(file.write(bytes(contractRequest({ stream })), testAct())).rejects.toMatchObject({
        kind: "stream_malformed",
        message: "the reply ended without a stop reason",
      });
    }
  });

  it("names the field of a request that is off its schema", async () => {
    const file = await open(() => textReply("x"));
    const write = (value: unknown): Promise<void> => file.write(bytes(value), testAct());
    const broken = { ...contractRequest(), messages: [{ role: "user", content: [{ type: "text" }] }] };
    await expect(write(broken)).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringMatching(/^messages\.0\.content\.0\.text: /),
    });
    await expect(write({ intnt: "x" })).rejects.toMatchObject({ code: "INVALID" });
    await expect(file.write(new TextEncoder().encode("{"), testAct())).rejects.toMatchObject({
      code: "INVALID",
    });
  });

  it("refuses a call without its result, and an assistant's first message", async () => {
    const file = await open(() => textReply("x"));
    const call = { type: "tool_use" as const, id: "c1", name: "view", input: {} };
    const [user] = contractRequest().messages;
    const unpaired = contractRequest({ messages: [user!, { role: "assistant", content: [call] }, user!] });
    await expect(file.write(bytes(unpaired), testAct())).rejects.toMatchObject({
      code: "INVALID",
      message: "messages.2: no tool_result for c1",
    });
    const first = contractRequest({
      messages: [{ role: "assistant", content: [{ type: "text", text: "x" }] }, user!],
    });
    await expect(file.write(bytes(first), testAct())).rejects.toMatchObject({ code: "INVALID" });
  });

  it("plan() reserves estimated input and the output limit, capped by the card", async () => {
    const file = await open(() => textReply("x"));
    const plan = await file.plan?.(bytes(contractRequest({ tools: [], system: [], maxOutputTokens: 9999 })));
    expect(plan).toMatchObject({
      effects: [{ kind: "llm", device: "/dev/llm/test", maxTokens: 500 }],
      effectClass: "once",
      // five of a hundred more input than is estimated
      reserve: { tokens: 503, usd: (3 + 500 * 2) / 1_000_000 },
    });
  });

  it("charge() tells reported usage once", async () => {
    const file = await open(() => textReply("x"));
    await file.write(bytes(contractRequest({ stream: false })), testAct());
    expect(file.charge?.()).toMatchObject({ tokens: 15, usd: 20 / 1_000_000, purpose: "main" });
    expect(file.charge?.()).toBeUndefined();
  });

  it("charge() estimates what a broken stream had cost, and nothing for a refusal", async () => {
    const file = await open(async function* () {
      for await (const event of textReply("four letters of it")) {
        if (event.type === "content_block_stop") throw new LlmError({ kind: "connection", message: "gone" });
        yield event;
      }
    });
    await expect(file.write(bytes(contractRequest()), testAct())).rejects.toThrow("gone");
    expect(file.charge?.()?.tokens).toBe(10 + 5);
    const refused = await open(() => {
      throw new LlmError({ kind: "auth", message: "no" });
    });
    await expect(refused.write(bytes(contractRequest()), testAct())).rejects.toThrow("no");
    expect(refused.charge?.()?.tokens).toBe(0);
  });

  it("ends an attempt after 90 s of silence, and not before", async () => {
    const clock = new VirtualClock();
    const file = await open(silent, clock);
    const written = file.write(bytes(contractRequest()), testAct());
    written.catch(() => {});
    await clock.advance(89_999);
    await clock.advance(1);
    await expect(written).rejects.toMatchObject({ kind: "stream_stalled", code: "TIMEOUT" });
    expect(clock.pending).toBe(0);
  });

  it("counts the silence from the last event, with one timer for the attempt", async () => {
    const clock = new VirtualClock();
    const file = await open(async function* (_, signal) {
      yield { type: "ping" };
      await clock.sleep(60_000, signal);
      yield { type: "ping" };
      await clock.sleep(1_000_000, signal);
    }, clock);
    let outcome = "";
    file.write(bytes(contractRequest()), testAct()).catch(({ kind }: LlmError) => (outcome = kind));
    await clock.advance(60_000);
    // that of the attempt, that of the silence, and the scene's own
    expect(clock.pending).toBe(3);
    await clock.advance(89_999);
    expect(outcome).toBe("");
    await clock.advance(1);
    await settle();
    expect(outcome).toBe("stream_stalled");
    expect(clock.pending).toBe(0);
  });

  it.each([
    ["50", 50],
    ["0", 90_000],
    ["soon", 90_000],
  ])("takes CRUX_STREAM_IDLE_TIMEOUT_MS=%s as %i ms", async (value, ms) => {
    const clock = new VirtualClock();
    const file = await open(silent, clock, { CRUX_STREAM_IDLE_TIMEOUT_MS: value });
    const written = file.write(bytes(contractRequest()), testAct());
    written.catch(() => {});
    await clock.advance(ms);
    await expect(written).rejects.toMatchObject({ kind: "stream_stalled" });
  });

  it("ends the short form at its timeout_ms", async () => {
    const clock = new VirtualClock();
    const file = await open(silent, clock);
    const written = file.write(bytes({ intent: "x", timeout_ms: 3000 }), testAct());
    written.catch(() => {});
    await clock.advance(3000);
    await expect(written).rejects.toMatchObject({ kind: "timeout", code: "TIMEOUT" });
  });

  it("an abort of the act is CANCELLED", async () => {
    const controller = new AbortController();
    const file = await open(silent);
    const written = file.write(bytes(contractRequest()), testAct(controller.signal));
    written.catch(() => {});
    await settle();
    controller.abort();
    await expect(written).rejects.toMatchObject({ kind: "cancelled", code: "CANCELLED" });
  });

  it("close() ends what is under way, reads too, and lets the driver go", async () => {
    const driver = new TestDriver(silent);
    const clock = new VirtualClock();
    const device = llmDevice({ name: "test", clock, make: () => driver });
    const file = await device.open("", 2, testCaller());
    const written = file.write(bytes(contractRequest()), testAct());
    written.catch(() => {});
    await file.read(1000, none);
    const read = file.read(10, none);
    read.catch(() => {});
    await settle();
    await file.close();
    await file.close();
    await expect(written).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(read).rejects.toMatchObject({ code: "CANCELLED" });
    expect(driver.closed).toBe(1);
    expect(clock.pending).toBe(0);
    await expect(file.write(bytes(contractRequest()), testAct())).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });

  it("shares a driver among callers that agree in the variables that matter, and keeps few idle ones", async () => {
    const made: TestDriver[] = [];
    const device = llmDevice({
      name: "test",
      clock: new VirtualClock(),
      envKeys: ["KEY"],
      make: () => {
        made.push(new TestDriver(() => textReply("x")));
        return made.at(-1)!;
      },
    });
    const openWith = (env: Record<string, string>): Promise<OpenFile> =>
      device.open("", 2, testCaller({ env }));
    const first = await openWith({ KEY: "a", OTHER: "1" });
    const second = await openWith({ KEY: "a", OTHER: "2" });
    await openWith({ KEY: "b" });
    expect(made).toHaveLength(2);
    await first.close();
    await second.close();
    for (let i = 0; i < 20; i++) await (await openWith({ KEY: `c${i}` })).close();
    expect(made.filter(({ closed }) => closed === 0).length).toBeLessThanOrEqual(8);
    await device.close?.();
    expect(made.every(({ closed }) => closed > 0)).toBe(true);
  });

  it("loads the code of a driver when it is first opened, and once", async () => {
    let loads = 0;
    const load = async () => {
      loads++;
      return () => new TestDriver(() => textReply("x"));
    };
    const device = llmDevice({ name: "test", clock: new VirtualClock(), make: { load } });
    expect(loads).toBe(0);
    for (let opened = 0; opened < 2; opened++) await (await device.open("", 2, testCaller())).close();
    expect(loads).toBe(1);
  });

  it("has no vendor's SDK among what Crux is made of", () => {
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
    expect(
      Object.keys(dependencies).filter((name) => /anthropic|openai|google|aws|ollama/.test(name)),
    ).toEqual([]);
  });

  it("takes the model from the path where the request names none", async () => {
    const models: string[] = [];
    const device = llmDevice({
      name: "test",
      clock: new VirtualClock(),
      make: () =>
        new TestDriver((request) => {
          models.push(request.model);
          return textReply("x");
        }),
    });
    const file = await device.open("/some/model", 2, testCaller());
    await file.write(bytes(contractRequest({ stream: false })), testAct());
    await readAll(file);
    await file.write(bytes(contractRequest({ stream: false, model: "own" })), testAct());
    expect(models).toEqual(["some/model", "own"]);
  });
});
