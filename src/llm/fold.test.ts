import { describe, expect, it } from "vitest";
import { isBadInput, type StreamEvent, type WireMessage } from "../abi/llm.ts";
import { fold, NO_USAGE, withOwnIds, withoutDeltas } from "./fold.ts";
import { textReply } from "./testing/callers.ts";

const start: StreamEvent = { type: "message_start", message: { id: "m", model: "x", usage: NO_USAGE } };
const stop: StreamEvent = { type: "message_stop" };
const call = (index: number): StreamEvent => ({
  type: "content_block_start",
  index,
  content_block: { type: "tool_use", id: `c${index}`, name: "view", input: { ignored: true } },
});
const json = (index: number, partial_json: string): StreamEvent => ({
  type: "content_block_delta",
  index,
  delta: { type: "input_json_delta", partial_json },
});

async function* from(...events: StreamEvent[]): AsyncGenerator<StreamEvent> {
  yield* events;
}

describe("fold()", () => {
  it("ignores content that a block starts with", async () => {
    const reply = await fold(
      from(
        start,
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hel" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
        { type: "content_block_stop", index: 0 },
        stop,
      ),
    );
    expect(reply.blocks).toEqual([{ type: "text", text: "Hello" }]);
  });

  it("parses arguments once, at the end of the block", async () => {
    const reply = await fold(
      from(start, call(0), json(0, '{"a"'), json(0, ":1}"), { type: "content_block_stop", index: 0 }, stop),
    );
    expect(reply.blocks).toEqual([{ type: "tool_use", id: "c0", name: "view", input: { a: 1 } }]);
  });

  it("takes arguments that are a string of JSON", async () => {
    const reply = await fold(
      from(
        start,
        call(0),
        json(0, JSON.stringify('{"a":1}')),
        { type: "content_block_stop", index: 0 },
        stop,
      ),
    );
    expect(reply.blocks).toMatchObject([{ input: { a: 1 } }]);
  });

  it.each(['{"a"', "[1]", "7", "null", '"a"', '"7"'])(
    "keeps %s as bad input: it is no JSON object",
    async (text) => {
      const reply = await fold(
        from(start, call(0), json(0, text), { type: "content_block_stop", index: 0 }, stop),
      );
      const [block] = reply.blocks;
      expect(block?.type === "tool_use" && isBadInput(block.input) && block.input.__malformed_json).toBe(
        text,
      );
    },
  );

  it("keeps arguments as bad input that nest too deeply, and takes brackets in strings for what they are", async () => {
    const input = async (text: string) => {
      const stopped = { type: "content_block_stop", index: 0 } as const;
      const [block] = (await fold(from(start, call(0), json(0, text), stopped, stop))).blocks;
      return block?.type === "tool_use" ? block.input : undefined;
    };
    const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect(isBadInput(await input(nested(100_000)))).toBe(true);
    expect(isBadInput(await input(nested(400)))).toBe(false);
    const text = `${'[{\\"'.repeat(2_000)}\\`;
    expect(await input(JSON.stringify({ text }))).toEqual({ text });
  });

  it("drops a call that did not finish, and keeps text that did not", async () => {
    const reply = await fold(
      from(
        start,
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "half" } },
        call(1),
        json(1, '{"a":1'),
        stop,
      ),
    );
    expect(reply.blocks).toEqual([{ type: "text", text: "half" }]);
  });

  it("assigns the signature of thinking", async () => {
    const delta = (signature: string): StreamEvent => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "signature_delta", signature },
    });
    const reply = await fold(
      from(
        start,
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "thinking", thinking: "x", signature: "y" },
        },
        { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm" } },
        delta("a"),
        delta("b"),
        { type: "content_block_stop", index: 0 },
        stop,
      ),
    );
    expect(reply.blocks).toEqual([{ type: "thinking", thinking: "Hm", signature: "b" }]);
  });

  it("refuses a stream without message_stop, and content for no block", async () => {
    await expect(fold(from(start))).rejects.toMatchObject({ kind: "stream_malformed" });
    await expect(fold(from(start, json(3, "{}"), stop))).rejects.toMatchObject({ kind: "stream_malformed" });
  });

  it("visits each of many deltas once", async () => {
    const count = 50_000;
    const reply = await fold(textReply(...Array.from({ length: count }, () => "ab")));
    expect(reply.blocks[0]).toMatchObject({ type: "text" });
    expect(reply.blocks[0]?.type === "text" && reply.blocks[0].text.length).toBe(2 * count);
  });
});

describe("withoutDeltas()", () => {
  it("gives whole blocks and leaves out deltas and pings", async () => {
    const events: StreamEvent[] = [];
    for await (const event of withoutDeltas(textReply("Hel", "lo"))) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events[1]).toMatchObject({ content_block: { type: "text", text: "Hello" } });
  });
});

describe("withOwnIds()", () => {
  const named = (index: number, id: string): StreamEvent => ({
    type: "content_block_start",
    index,
    content_block: { type: "tool_use", id, name: "view", input: {} },
  });
  const idsOf = async (messages: WireMessage[], ...ids: string[]) => {
    const events = ids.flatMap((id, at) => [
      named(at, id),
      { type: "content_block_stop", index: at } as const,
    ]);
    const { blocks } = await fold(withOwnIds(from(start, ...events, stop), messages));
    return blocks.map((block) => (block.type === "tool_use" ? block.id : ""));
  };

  it("gives each call an id of its own, in the reply and in the conversation", async () => {
    const input = {};
    const before = ["call_0", "call_0_2"].map(
      (id) => ({ type: "tool_use", id, name: "view", input }) as const,
    );
    const messages: WireMessage[] = [{ role: "assistant", content: before }];
    expect(await idsOf([], "a", "b")).toEqual(["a", "b"]);
    expect(await idsOf([], "a", "a", "", "", "a")).toEqual(["a", "a_2", "call_3", "call_4", "a_5"]);
    expect(await idsOf(messages, "call_0", "call_1")).toEqual(["call_0_3", "call_1"]);
    expect(await idsOf(messages, "call_0", "call_1")).toEqual(["call_0_3", "call_1"]);
  });

  it("looks through the conversation a few times at most, however many calls a reply has", async () => {
    let looks = 0;
    const message: WireMessage = { role: "user", content: [{ type: "text", text: "go" }] };
    const messages: WireMessage[] = [
      {
        role: "user",
        get content() {
          looks++;
          return message.content;
        },
      },
    ];
    const wanted = Array.from({ length: 500 }, (_, n) => (n % 2 === 0 ? `call_${n}` : ""));
    expect(new Set(await idsOf(messages, ...wanted)).size).toBe(500);
    expect(looks).toBeLessThan(20);
    const named = Array.from({ length: 500 }, (_, n) => `call_${n}`);
    expect(await idsOf(messages, ...named)).toEqual(named);
    expect(looks).toBeLessThan(50);
  });
});
