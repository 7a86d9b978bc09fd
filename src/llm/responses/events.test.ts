import { describe, expect, it } from "vitest";
import type { StreamEvent } from "../../abi/llm.ts";
import { fold } from "../fold.ts";
import { kindOf } from "../http/kinds.ts";
import type { Json } from "../json.ts";
import { ResponsesDecoder } from "./events.ts";
import { phaseMark, reasoningItem } from "./reasoning.ts";

const maker = { driver: "openai", model: "m" };
const created = { type: "response.created", response: { id: "resp_1", model: "m-1" } };
const completed = { type: "response.completed", response: { status: "completed" } };
const added = (output_index: number, item: Json) => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: Json) => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const call = { type: "function_call", call_id: "c1", name: "view", arguments: "" };
const json = (output_index: number, delta: string) => ({
  type: "response.function_call_arguments.delta",
  output_index,
  delta,
});

function eventsOf(...events: Json[]): StreamEvent[] {
  const decoder = new ResponsesDecoder(maker);
  return [...events.flatMap((event) => [...decoder.decode(event)]), ...decoder.finish()];
}
async function* from(events: StreamEvent[]): AsyncGenerator<StreamEvent> {
  yield* events;
}
const replyOf = (...events: Json[]) => fold(from(eventsOf(created, ...events)));

describe("ResponsesDecoder", () => {
  it("takes items whole where a server sends no deltas", async () => {
    const reply = await replyOf(
      added(0, { type: "reasoning" }),
      done(0, { type: "reasoning", id: "r", summary: [{ text: "Hm." }], encrypted_content: "e" }),
      added(1, { type: "message" }),
      done(1, { type: "message", content: [{ type: "output_text", text: "Hi." }] }),
      added(2, call),
      done(2, { ...call, arguments: '{"a":1}' }),
      completed,
    );
    expect(reply).toMatchObject({
      id: "resp_1",
      model: "m-1",
      stopReason: "tool_use",
      blocks: [
        { type: "thinking", thinking: "Hm." },
        { type: "text", text: "Hi." },
        { type: "tool_use", id: "c1", name: "view", input: { a: 1 } },
      ],
    });
  });

  it.each([
    [
      "done alone",
      [done(0, { type: "message", content: [{ text: "Hi." }] }), done(1, { ...call, arguments: "{}" })],
    ],
    [
      "done twice",
      [0, 0].flatMap(() => [done(0, { type: "message", content: [{ text: "Hi." }] }), done(1, call)]),
    ],
    ["in the last event", []],
  ])("takes items that are %s", async (_, items) => {
    const output = [{ type: "message", content: [{ type: "output_text", text: "Hi." }] }, call];
    const reply = await replyOf(...items, { ...completed, response: { status: "completed", output } });
    expect(reply.stopReason).toBe("tool_use");
    expect(reply.blocks).toMatchObject([
      { type: "text", text: "Hi." },
      { type: "tool_use", id: "c1", input: {} },
    ]);
  });

  it("takes a refusal that comes whole as one", async () => {
    const item = { type: "message", content: [{ type: "refusal", refusal: "No." }] };
    const reply = await replyOf(added(0, { type: "message" }), done(0, item), completed);
    expect(reply).toMatchObject({ stopReason: "refusal", blocks: [{ type: "text", text: "No." }] });
  });

  it("keeps the parts of a summary apart, and the item behind it", async () => {
    const summary = [
      { type: "summary_text", text: "one" },
      { type: "summary_text", text: "two" },
    ];
    const part = (summary_index: number) => [
      { type: "response.reasoning_summary_part.added", output_index: 0, summary_index },
      {
        type: "response.reasoning_summary_text.delta",
        output_index: 0,
        delta: summary[summary_index]?.text,
      },
    ];
    const item = { type: "reasoning", id: "r", summary, encrypted_content: "e" };
    const { blocks } = await replyOf(
      added(0, { type: "reasoning" }),
      ...part(0),
      ...part(1),
      done(0, item),
      completed,
    );
    const [block] = blocks;
    expect(block).toMatchObject({ type: "thinking", thinking: "one\n\ntwo" });
    if (block?.type === "thinking")
      expect(reasoningItem(block.thinking, block.signature, maker)).toEqual(item);
  });

  it("makes no block of reasoning that shows nothing and cannot be sent back", async () => {
    const item = { type: "reasoning", id: "r", summary: [], encrypted_content: null };
    expect((await replyOf(added(0, item), done(0, item), completed)).blocks).toEqual([]);
  });

  it("marks the phase of an answer before it", async () => {
    const message = { type: "message", phase: "final_answer" };
    const text = { ...message, content: [{ type: "output_text", text: "Hi." }] };
    expect((await replyOf(added(0, message), done(0, text), completed)).blocks).toEqual([
      { type: "redacted_thinking", data: phaseMark("final_answer", maker) },
      { type: "text", text: "Hi." },
    ]);
  });

  it("never completes a call that was cut off", async () => {
    const incomplete = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    const end = { type: "response.incomplete", response: incomplete };
    const reply = await replyOf(
      added(0, call),
      json(0, '{"path":'),
      done(0, { ...call, arguments: '{"path":', status: "incomplete" }),
      end,
    );
    expect(reply).toMatchObject({ blocks: [], stopReason: "max_tokens" });
    expect((await replyOf(added(0, call), json(0, "{}"), end)).blocks).toEqual([]);
  });

  it.each([
    ["content_filter", "refusal"],
    ["of a later day", "max_tokens"],
  ])("ends a reply that is incomplete for %j with %s", async (reason, stopReason) => {
    const response = { status: "incomplete", incomplete_details: { reason } };
    expect((await replyOf({ type: "response.incomplete", response })).stopReason).toBe(stopReason);
  });

  it("ends a call when it is done, so that it can start before the reply ends", () => {
    const types = eventsOf(created, added(0, call), json(0, "{}"), done(0, call), added(1, call)).map(
      (event) => ("index" in event ? `${event.type} ${event.index}` : event.type),
    );
    expect(types.indexOf("content_block_stop 0")).toBeLessThan(types.indexOf("content_block_start 1"));
  });

  it("takes a refusal as text, with its stop reason", async () => {
    const delta = { type: "response.refusal.delta", output_index: 0, delta: "No." };
    const reply = await replyOf(
      added(0, { type: "message" }),
      delta,
      done(0, { type: "message" }),
      completed,
    );
    expect(reply).toMatchObject({ blocks: [{ type: "text", text: "No." }], stopReason: "refusal" });
  });

  it("counts an event that means nothing as a sign of life", () => {
    const odd = [{ type: "keepalive" }, added(0, { type: "web_search_call" }), { type: "response.queued" }];
    expect(eventsOf(created, ...odd).filter(({ type }) => type === "ping")).toHaveLength(4);
  });

  it("refuses content of an item that never began", () => {
    expect(() => eventsOf(created, json(3, "{}"))).toThrow(RangeError);
  });

  it.each([
    [{ type: "error", code: "server_error", message: "x" }, "server"],
    [{ type: "error", error: { type: "tokens", code: "rate_limit_exceeded", message: "x" } }, "rate_limit"],
    [{ type: "error", error: { type: "invalid_request_error", code: null, message: "x" } }, "invalid"],
    [{ type: "response.failed", response: { error: { code: "invalid_image", message: "bad" } } }, "media"],
    [{ type: "response.failed", response: { error: { code: "bio_policy", message: "no" } } }, "refusal"],
    [{ type: "response.failed", response: { error: { code: "insufficient_quota", message: "x" } } }, "quota"],
  ])("tells what %j says went wrong: %s", (event, kind) => {
    const words = new ResponsesDecoder(maker).failure(event) ?? expect.fail();
    expect(kindOf({ status: undefined, ...words })).toBe(kind);
  });

  it("takes linear time for many deltas", () => {
    const decoder = new ResponsesDecoder(maker);
    let seen = 0;
    for (const event of [created, added(0, { type: "message" })]) seen += [...decoder.decode(event)].length;
    for (let n = 0; n < 50_000; n++)
      for (const _ of decoder.decode({ type: "response.output_text.delta", output_index: 0, delta: "x" }))
        seen++;
    // one event each; the start of message and block, and a ping
    expect(seen).toBe(50_003);
  });
});
