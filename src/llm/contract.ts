/**
 * The contract of every driver, whatever its dialect: a suite that each driver's test runs. A Rig stands for the remote
 * side: a server of the dialect on loopback, a scenario, or a program that talks to such a server.
 */
import { afterEach, describe, expect, it } from "vitest";
import type { Block, LlmErrorKind, StopReason, StreamEvent } from "../abi/llm.ts";
import { isBadInput } from "../abi/llm.ts";
import { LlmError } from "../abi/llm-error.ts";
import type { AttemptRequest, Driver } from "./driver.ts";
import { fold, NO_USAGE } from "./fold.ts";

export type RigBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string }
  /** `json`: the arguments as the model sends them, valid or not. */
  | { readonly type: "tool_use"; readonly name: string; readonly json: string };

export interface RigReply {
  readonly blocks: readonly RigBlock[];
  readonly stop?: StopReason;
  readonly usage?: { readonly input: number; readonly output: number; readonly cacheRead?: number };
  /** Bytes per write to the socket, and characters per delta. */
  readonly split?: number;
  /** How the reply breaks off after `afterBlocks` finished blocks: the connection is cut, or no more data comes. */
  readonly ending?: { readonly do: "cut" | "stall"; readonly afterBlocks: number };
  /** An error to send instead of a reply. */
  readonly error?: { readonly kind: LlmErrorKind; readonly status: number; readonly retryAfterS?: number };
}

/** The remote side during one test. */
export interface Rigged {
  readonly driver: Driver;
  /** Resolves when no socket and no child of the attempts is left. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

export interface Rig {
  readonly name: string;
  serve(replies: readonly RigReply[]): Promise<Rigged>;
  /** Error kinds that the dialect can express, with the status that carries each. */
  readonly errors: readonly NonNullable<RigReply["error"]>[];
  readonly stops: readonly StopReason[];
  readonly can: {
    readonly thinking: boolean;
    readonly retryAfter: boolean;
    /** Whether text, calls and more text keep their order. */
    readonly interleave: boolean;
    /** Whether the server says how much of a prompt was cached; absent: yes. */
    readonly countsCached?: boolean;
    /** Whether the vendor sends a call only whole, so that its arguments are always JSON. */
    readonly wholeCalls?: boolean;
    /** Whether it retries by itself before it fails. */
    readonly ownRetries?: boolean;
    /** True if there is no model, so that no tokens are counted. */
    readonly countsNothing?: boolean;
  };
}

const view = {
  name: "view",
  description: "Reads a file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
};

export function contractRequest(part: Partial<AttemptRequest> = {}): AttemptRequest {
  return {
    requestId: "r1",
    purpose: "main",
    model: "",
    system: [{ text: "You are a test.", zone: "static" }],
    tools: [view],
    messages: [{ role: "user", content: [{ type: "text", text: "Go on." }] }],
    maxOutputTokens: 1000,
    stream: true,
    ...part,
  };
}

export function driverContract(rig: Rig): void {
  describe(`${rig.name} keeps the driver contract`, () => {
    let rigged: Rigged | undefined;
    const serve = async (...replies: RigReply[]): Promise<Driver> => {
      rigged = await rig.serve(replies);
      return rigged.driver;
    };
    const ask = async (reply: RigReply, part: Partial<AttemptRequest> = {}) => {
      const driver = await serve(reply);
      const whole = await fold(driver.stream(contractRequest(part), new AbortController().signal));
      // what a driver keeps between the blocks for its vendor is its own affair
      return { ...whole, blocks: whole.blocks.filter(({ type }) => type !== "redacted_thinking") };
    };
    afterEach(async () => {
      await rigged?.close();
      rigged = undefined;
    });

    it("stream() gives text, and the usage that was reported", async () => {
      const usage = { input: 120, output: 7, cacheRead: 30 };
      const reply = await ask({ blocks: [{ type: "text", text: "Hello, world." }], usage });
      expect(reply.blocks).toEqual([{ type: "text", text: "Hello, world." }]);
      expect(reply.stopReason).toBe("end_turn");
      const cached = rig.can.countsCached === false ? 0 : usage.cacheRead;
      const counted = {
        input_tokens: usage.input + usage.cacheRead - cached,
        output_tokens: 7,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: cached,
      };
      expect(reply.usage).toEqual(rig.can.countsNothing === true ? NO_USAGE : counted);
    });

    it("stream() gives two calls of one reply, with ids that differ", async () => {
      const reply = await ask({
        blocks: [
          { type: "tool_use", name: "view", json: '{"path":"a"}' },
          { type: "tool_use", name: "view", json: '{"path":"b"}' },
        ],
      });
      expect(reply.stopReason).toBe("tool_use");
      expect(reply.blocks).toMatchObject([
        { type: "tool_use", name: "view", input: { path: "a" } },
        { type: "tool_use", name: "view", input: { path: "b" } },
      ]);
      const [first, second] = reply.blocks.map((block) => (block.type === "tool_use" ? block.id : ""));
      expect(first).not.toBe("");
      expect(first).not.toBe(second);
    });

    it.runIf(rig.can.interleave)("stream() keeps the order of text, call, text", async () => {
      const reply = await ask({
        blocks: [
          { type: "text", text: "before" },
          { type: "tool_use", name: "view", json: "{}" },
          { type: "text", text: "after" },
        ],
      });
      expect(reply.blocks.map(({ type }) => type)).toEqual(["text", "tool_use", "text"]);
    });

    it("stream() takes empty arguments as {}", async () => {
      const reply = await ask({ blocks: [{ type: "tool_use", name: "view", json: "" }] });
      expect(reply.blocks).toMatchObject([{ type: "tool_use", input: {} }]);
    });

    it.runIf(rig.can.wholeCalls !== true)("stream() keeps arguments that are not JSON as text", async () => {
      const reply = await ask({ blocks: [{ type: "tool_use", name: "view", json: '{"path": ' }] });
      const [block] = reply.blocks as [Extract<Block, { type: "tool_use" }>];
      expect(isBadInput(block.input)).toBe(true);
    });

    it("stream() gives one complete answer as the events of a stream, if that is asked for", async () => {
      const blocks = [
        { type: "text", text: "I look." },
        { type: "tool_use", name: "view", json: '{"path":"a"}' },
      ] as const;
      const reply = await ask({ blocks, usage: { input: 9, output: 4 } }, { whole: true });
      expect(reply.blocks).toMatchObject([
        { type: "text", text: "I look." },
        { type: "tool_use", name: "view", input: { path: "a" } },
      ]);
      expect([reply.stopReason, reply.usage.output_tokens]).toEqual([
        "tool_use",
        rig.can.countsNothing === true ? 0 : 4,
      ]);
    });

    it("stream() joins characters and frames that come in pieces", async () => {
      const text = "naïve 漢字 👩‍👩‍👧 \u2028 end\r\nnext";
      const reply = await ask({ blocks: [{ type: "text", text }], split: 1 });
      expect(reply.blocks).toEqual([{ type: "text", text }]);
    });

    it.runIf(rig.can.thinking)("stream() gives thinking as a block of its own", async () => {
      const reply = await ask({
        blocks: [
          { type: "thinking", thinking: "Hm." },
          { type: "text", text: "Yes." },
        ],
      });
      expect(reply.blocks).toMatchObject([
        { type: "thinking", thinking: "Hm." },
        { type: "text", text: "Yes." },
      ]);
    });

    it.each(rig.stops)("stream() tells the stop reason %s", async (stop) => {
      expect((await ask({ blocks: [{ type: "text", text: "x" }], stop })).stopReason).toBe(stop);
    });

    it.each(rig.errors)("stream() throws $kind for $status", async (error) => {
      const driver = await serve({ blocks: [], error });
      const failure = await failureOf(driver.stream(contractRequest(), new AbortController().signal));
      expect(failure).toMatchObject({ kind: error.kind, device: `/dev/llm/${driver.name}` });
      if (error.retryAfterS !== undefined && rig.can.retryAfter)
        expect(failure.retryAfterMs).toBe(error.retryAfterS * 1000);
    });

    // a foreign program sometimes completes a reply where it was cut, so the test may be repeated
    const retry = rig.can.ownRetries === true ? 4 : 0;
    it("stream() throws a retryable kind for a reply that is cut off", { retry }, async () => {
      const driver = await serve({
        blocks: [
          { type: "text", text: "one" },
          { type: "text", text: "two" },
        ],
        ending: { do: "cut", afterBlocks: 1 },
      });
      const attempt = fold(driver.stream(contractRequest(), new AbortController().signal));
      const outcome = await attempt.catch((error: unknown) => error);
      // a program that retries by itself may give the whole reply, but never a part of it
      if (rig.can.ownRetries === true && !(outcome instanceof Error)) {
        expect(outcome).toMatchObject({ blocks: [{ text: "one" }, { text: "two" }], stopReason: "end_turn" });
        return;
      }
      expect(outcome).toBeInstanceOf(LlmError);
      expect(["connection", "stream_malformed", "server"]).toContain((outcome as LlmError).kind);
    });

    it("stream() ends with kind cancelled on abort, and leaves nothing behind", async () => {
      const driver = await serve(endless);
      const controller = new AbortController();
      const events = driver.stream(contractRequest(), controller.signal)[Symbol.asyncIterator]();
      await untilText(events);
      const rest = drain(events);
      controller.abort();
      await expect(rest).rejects.toMatchObject({ kind: "cancelled", code: "CANCELLED" });
      await rigged?.quiet();
    });

    it("stream() refuses at once when it was aborted before", async () => {
      const driver = await serve(endless);
      const failure = await failureOf(driver.stream(contractRequest(), AbortSignal.abort()));
      expect(failure.kind).toBe("cancelled");
      await rigged?.quiet();
    });

    it("stream() leaves nothing behind when its consumer stops early", async () => {
      const driver = await serve(endless);
      const events = driver.stream(contractRequest(), new AbortController().signal)[Symbol.asyncIterator]();
      await untilText(events);
      await events.return?.();
      await rigged?.quiet();
    });

    it("stream() sends a history with calls and results that the other end takes", async () => {
      const messages: AttemptRequest["messages"] = [
        { role: "user", content: [{ type: "text", text: "Look." }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "of another model", signature: "" },
            { type: "text", text: "Looking." },
            { type: "tool_use", id: "call_1", name: "view", input: { path: "a" } },
            { type: "tool_use", id: "call_2", name: "view", input: { __malformed_json: "{" } },
            { type: "tool_use", id: "call_3", name: "", input: {} },
            { type: "tool_use", id: "call_4", name: "look at:\n it", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_1", content: "text of a" },
            { type: "tool_result", tool_use_id: "call_2", content: "not JSON", is_error: true },
            { type: "tool_result", tool_use_id: "call_3", content: "no name", is_error: true },
            { type: "tool_result", tool_use_id: "call_4", content: "no tool", is_error: true },
          ],
        },
      ];
      const reply = await ask({ blocks: [{ type: "text", text: "Done." }] }, { messages });
      expect(reply.blocks).toEqual([{ type: "text", text: "Done." }]);
    });

    it("card() is pure, and knows its driver", async () => {
      const driver = await serve(endless);
      expect(driver.card("some-model")).toEqual(driver.card("some-model"));
      expect(driver.card("").driver).toBe(driver.name);
    });
  });
}

const endless: RigReply = {
  blocks: [
    { type: "text", text: "a beginning" },
    { type: "text", text: "never reached" },
  ],
  ending: { do: "stall", afterBlocks: 1 },
};

async function untilText(events: AsyncIterator<StreamEvent>): Promise<void> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error("the stream ended");
    if (value.type === "content_block_delta") return;
  }
}

async function drain(events: AsyncIterator<StreamEvent>): Promise<void> {
  while ((await events.next()).done !== true);
}

async function failureOf(events: AsyncIterable<StreamEvent>): Promise<LlmError> {
  try {
    await fold(events);
  } catch (error) {
    if (error instanceof LlmError) return error;
    throw error;
  }
  throw new Error("the attempt succeeded");
}
