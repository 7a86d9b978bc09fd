import { describe, expect, it } from "vitest";
import { fold } from "../fold.ts";
import { eventsOfMessage, MessagesDecoder } from "./events.ts";

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
