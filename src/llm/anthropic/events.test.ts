import { describe, expect, it } from "vitest";
import { fold } from "../fold.ts";
import type { Json } from "../json.ts";
import { eventsOfMessage, MessagesDecoder } from "./events.ts";
import { ClaudeStream } from "./stream.ts";

describe("MessagesDecoder", () => {
  it("takes a message_delta without a stop reason for a report of usage alone", () => {
    const decoder = new MessagesDecoder();
    const usage = { input_tokens: 3, output_tokens: 4 };
    const part = { type: "message_delta", delta: { stop_reason: null }, usage };
    expect([...decoder.decode(part)]).toEqual([]);
    const last = { type: "message_delta", delta: { stop_reason: "pause_turn" } };
    expect([...decoder.decode(last)]).toMatchObject([{ delta: { stop_reason: "pause_turn" }, usage }]);
  });
});

describe("ClaudeStream", () => {
  const stopOf = (...events: Json[]) => {
    const stream = new ClaudeStream(() => undefined);
    const all = [...events, { type: "message_stop" }].flatMap((event) => [...stream.decode(event)]);
    expect(all.some(({ type }) => type === "message_stop")).toBe(false);
    return [...stream.finish()].flatMap((event) =>
      event.type === "message_delta" ? [event.delta.stop_reason] : [],
    );
  };
  const end = (stop_reason: string, more: Json = {}): Json => ({
    ...{ type: "message_delta", delta: { stop_reason }, ...more },
  });

  it.each(["guardrail_intervened", "content_filtered", "refusal"])("ends with a refusal: %s", (reason) => {
    expect(stopOf(end(reason))).toEqual(["refusal"]);
  });

  it("ends with a refusal where Amazon's guardrail stepped in, in whichever part it says so", () => {
    const mark = { "amazon-bedrock-guardrailAction": "INTERVENED" };
    expect(stopOf(end("end_turn", mark))).toEqual(["refusal"]);
    expect(stopOf(end("end_turn"), { type: "message_stop", ...mark })).toEqual(["refusal"]);
    const whole = { type: "message", content: [], stop_reason: "end_turn", ...mark };
    expect(stopOf(...eventsOfMessage(whole))).toEqual(["refusal"]);
    expect(stopOf(end("end_turn", { "amazon-bedrock-guardrailAction": "NONE" }))).toEqual(["end_turn"]);
  });

  it("fails where the platform could not read what the model made, and takes an unknown reason for an end", () => {
    expect(() => stopOf(end("malformed_tool_use"))).toThrow(RangeError);
    expect(stopOf(end("of a later day"))).toEqual(["end_turn"]);
  });
});

describe("eventsOfMessage()", () => {
  it("gives the events of a stream: every kind of block, arguments that are not JSON, the usage", async () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "redacted_thinking", data: "r" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "a", name: "view", input: { path: "x" } },
      { type: "tool_use", id: "b", name: "view", input: '{"pa' },
      { type: "of another kind" },
    ];
    const usage = { input_tokens: 3, output_tokens: 4 };
    const message = { id: "m", model: "x", type: "message", content, stop_reason: "tool_use", usage };
    const decoder = new MessagesDecoder();
    const events = [...eventsOfMessage(message)].flatMap((raw) => [...decoder.decode(raw)]);
    const reply = await fold(
      (async function* () {
        yield* events;
      })(),
    );
    expect(reply).toMatchObject({ id: "m", model: "x", stopReason: "tool_use", usage });
    expect(reply.blocks).toEqual([
      ...content.slice(0, 4),
      { type: "tool_use", id: "b", name: "view", input: { __malformed_json: '{"pa' } },
    ]);
  });
});
