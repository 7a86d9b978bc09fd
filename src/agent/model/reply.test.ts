import { describe, expect, test } from "vitest";
import { call, eventsOf, reply } from "../testing.ts";
import { isMessageStop, parseReply } from "./reply.ts";

const lines = (events: readonly unknown[]) => events.map((event) => JSON.stringify(event));

describe("parseReply()", () => {
  test("gives back the blocks as they came", () => {
    const whole = reply([
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "text", text: "é 中 \n" },
      call("view", { file_path: "a" }),
    ]);
    expect(parseReply(lines(eventsOf(whole)), "/d")).toEqual(whole);
  });

  test("drops a block that did not stop, passes over pings, takes an unknown stop reason as the end of the turn", () => {
    const events = eventsOf(reply([{ type: "text", text: "a" }, call("view")]));
    const kept = events.filter((event) => event.type !== "content_block_stop" || event.index === 0);
    const strange = kept.map((event) =>
      event.type === "message_delta" ? { ...event, delta: { stop_reason: "bored" } } : event,
    );
    const parsed = parseReply(lines([{ type: "ping" }, ...strange]), "/d");
    expect(parsed.blocks).toEqual([{ type: "text", text: "a" }]);
    expect(parsed.stopReason).toBe("end_turn");
  });

  const whole = lines(eventsOf(reply("a")));
  const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" } };
  test.each([
    ["nothing", []],
    ["no end", whole.slice(0, -1)],
    ["no beginning", whole.slice(1)],
    ["no stop reason", whole.toSpliced(-2, 1)],
    ["no JSON", [...whole, "{"]],
    ["pieces", [...whole, JSON.stringify(delta)]],
  ])("throws stream_malformed for %s", (_name, given) => {
    expect(() => parseReply(given, "/dev/llm/x")).toThrow(
      expect.objectContaining({ kind: "stream_malformed", code: "DRIVER", device: "/dev/llm/x" }),
    );
  });
});

test("isMessageStop() knows the last event from text that mentions it", () => {
  expect(isMessageStop('{"type":"message_stop"}')).toBe(true);
  expect(isMessageStop(JSON.stringify({ type: "content_block_start", text: '"message_stop"' }))).toBe(false);
  expect(isMessageStop("")).toBe(false);
});
