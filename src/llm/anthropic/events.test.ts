import { describe, expect, it } from "vitest";
import { MessagesDecoder } from "./events.ts";

describe("MessagesDecoder", () => {
  it("takes a message_delta without a stop reason for a report of usage alone", () => {
    const decoder = new MessagesDecoder();
    const usage = { input_tokens: 3, output_tokens: 4 };
    const part = { type: "message_delta", delta: { stop_reason: null }, usage };
    expect(decoder.decode(part)).toBeUndefined();
    expect(decoder.decode({ type: "message_delta", delta: { stop_reason: "pause_turn" } })).toMatchObject({
      delta: { stop_reason: "pause_turn" },
      usage,
    });
  });
});
