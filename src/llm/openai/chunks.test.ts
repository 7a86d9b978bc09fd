import { describe, expect, it } from "vitest";
import type { StreamEvent } from "../../abi/llm.ts";
import { fold } from "../fold.ts";
import { ChatDecoder } from "./chunks.ts";

type Fragment = Record<string, unknown>;
const calls = (...fragments: Fragment[]): Fragment => ({ choices: [{ delta: { tool_calls: fragments } }] });
const end = (finish_reason: string): Fragment => ({ choices: [{ delta: {}, finish_reason }] });

function eventsOf(...chunks: Fragment[]): StreamEvent[] {
  const decoder = new ChatDecoder();
  return [
    ...chunks.flatMap((chunk) => [...decoder.decode({ id: "x", model: "m", ...chunk })]),
    ...decoder.finish(),
  ];
}

async function* from(events: StreamEvent[]): AsyncGenerator<StreamEvent> {
  yield* events;
}
const replyOf = (...chunks: Fragment[]) => fold(from(eventsOf(...chunks)));

describe("ChatDecoder", () => {
  it("joins fragments by index, also where they alternate", async () => {
    const reply = await replyOf(
      calls({ index: 0, id: "a", function: { name: "view", arguments: '{"p"' } }),
      calls({ index: 1, id: "b", function: { name: "grep", arguments: '{"q"' } }),
      calls({ index: 0, function: { arguments: ":1}" } }, { index: 1, function: { arguments: ":2}" } }),
      end("tool_calls"),
    );
    expect(reply.blocks).toEqual([
      { type: "tool_use", id: "a", name: "view", input: { p: 1 } },
      { type: "tool_use", id: "b", name: "grep", input: { q: 2 } },
    ]);
  });

  it("ends a complete call as soon as the next begins, so that it can start", () => {
    const types = eventsOf(
      calls({ index: 0, id: "a", function: { name: "view", arguments: "{}" } }),
      calls({ index: 1, id: "b", function: { name: "grep", arguments: "{}" } }),
      end("tool_calls"),
    ).map((event) => ("index" in event ? `${event.type} ${event.index}` : event.type));
    expect(types.indexOf("content_block_stop 0")).toBeLessThan(types.indexOf("content_block_start 1"));
  });

  it("tells calls apart by id where a server counts them all as 0", async () => {
    const reply = await replyOf(
      calls({ index: 0, id: "a", function: { name: "view", arguments: '{"p":1}' } }),
      calls({ index: 0, id: "b", function: { name: "view", arguments: '{"p":2}' } }),
      end("stop"),
    );
    expect(reply.blocks.map((block) => block.type === "tool_use" && block.input)).toEqual([
      { p: 1 },
      { p: 2 },
    ]);
  });

  it("makes an id where there is none, and takes arguments that are an object", async () => {
    const reply = await replyOf(calls({ function: { name: "view", arguments: { p: 1 } } }), end("stop"));
    expect(reply.blocks).toMatchObject([{ name: "view", input: { p: 1 } }]);
    expect(reply.blocks[0]?.type === "tool_use" && reply.blocks[0].id).toMatch(/^call_/);
  });

  it("lets calls outrank stop, and the length limit outrank calls", async () => {
    const call = calls({ index: 0, id: "a", function: { name: "view", arguments: "{}" } });
    expect((await replyOf(call, end("stop"))).stopReason).toBe("tool_use");
    expect((await replyOf(call, end("length"))).stopReason).toBe("max_tokens");
    expect((await replyOf(end("tool_calls"))).stopReason).toBe("end_turn");
  });

  it.each([
    ["content_filter", "refusal"],
    ["content_filter: PROHIBITED_CONTENT", "refusal"],
    ["sensitive", "refusal"],
    ["model_length", "model_context_window_exceeded"],
    ["max_tokens", "max_tokens"],
    ["of a later day", "end_turn"],
  ])("ends a reply that stopped for %j with %s", async (said, stopReason) => {
    expect((await replyOf(end(said))).stopReason).toBe(stopReason);
    expect(new ChatDecoder().failure(end(said))).toBeUndefined();
  });

  it.each([
    ["network_error", "server"],
    ["abort", "server"],
    ["function_call_filter: MALFORMED_FUNCTION_CALL", "stream_malformed"],
  ])("takes %j for a failure, which is retried", (said, kind) => {
    expect(new ChatDecoder().failure(end(said))).toMatchObject({ kind });
  });

  it("subtracts cached tokens from the input", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 40 } };
    expect((await replyOf(end("stop"), { choices: [], usage })).usage).toEqual({
      input_tokens: 60,
      output_tokens: 5,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 40,
    });
  });

  it("takes DeepSeek's field for cached tokens, and its word for a reply that broke off", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 5, prompt_cache_hit_tokens: 40 };
    expect((await replyOf(end("stop"), { choices: [], usage })).usage).toMatchObject({
      input_tokens: 60,
      cache_read_input_tokens: 40,
    });
    expect(new ChatDecoder().failure(end("insufficient_system_resource"))).toMatchObject({
      kind: "overloaded",
    });
  });

  it("takes reasoning under either name as thinking", async () => {
    const reply = await replyOf(
      { choices: [{ delta: { reasoning: "a" } }] },
      { choices: [{ delta: { reasoning_content: "b", content: "c" } }] },
      end("stop"),
    );
    expect(reply.blocks).toEqual([
      { type: "thinking", thinking: "ab", signature: "" },
      { type: "text", text: "c" },
    ]);
  });

  it("refuses arguments for a call that was complete", () => {
    expect(() =>
      eventsOf(
        calls({ index: 0, id: "a", function: { name: "view", arguments: "{}" } }),
        calls({ index: 1, id: "b", function: { name: "grep", arguments: "{}" } }),
        calls({ index: 0, function: { arguments: "more" } }),
      ),
    ).toThrow(RangeError);
  });
});
