import { describe, expect, test } from "vitest";
import { call, eventsOf, reply } from "../testing/replies.ts";
import { ReplyReader } from "./reply.ts";

const parseReply = (given: readonly string[], device: string) => {
  const reader = new ReplyReader(device);
  reader.feed(new TextEncoder().encode(given.map((line) => `${line}\n`).join("")));
  return reader.reply();
};
const lines = (events: readonly unknown[]) => events.map((event) => JSON.stringify(event));

describe("ReplyReader", () => {
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

test("ReplyReader gives each block once, wherever the bytes are cut, and knows the end from text that mentions it", () => {
  const whole = reply([{ type: "text", text: 'é {"type":"message_stop"}' }, call("view", { path: "中" })]);
  const bytes = new TextEncoder().encode(`${lines(eventsOf(whole)).join("\n")}\n`);
  for (let size = 1; size < 40; size++) {
    const reader = new ReplyReader("/d");
    const blocks = [];
    for (let at = 0; at < bytes.length; at += size) {
      expect(reader.isOver).toBe(false);
      blocks.push(...reader.feed(bytes.subarray(at, at + size)));
    }
    expect(blocks).toEqual(whole.blocks);
    expect(reader.isOver).toBe(true);
    expect(reader.reply()).toEqual(whole);
  }
});
