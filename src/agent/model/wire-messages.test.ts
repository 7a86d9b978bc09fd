import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Block, WireMessage } from "../../abi/llm.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { call } from "../testing/replies.ts";
import { callsOf } from "./blocks.ts";
import { OUTCOME_UNKNOWN, toWireMessages } from "./wire-messages.ts";

const user = (content: string): ContextMessage => ({ role: "user", content });
const assistant = (...blocks: Block[]): ContextMessage => ({ role: "assistant", content: "", blocks });
const result = (id: string, content = id): ContextMessage => ({ role: "tool", content, tool_call_id: id });
const text = (value: string): Block => ({ type: "text", text: value });

describe("toWireMessages()", () => {
  test("merges the results of a step into one user message, in call order, with what the user said next", () => {
    const step = assistant(
      { type: "thinking", thinking: "t", signature: "s" },
      text("look"),
      call("view", {}, "1"),
      call("ls", {}, "2"),
    );
    const failed: ContextMessage = { ...result("1"), is_error: true };
    expect(toWireMessages([user("go"), step, result("2"), failed, user("and?")])).toEqual([
      { role: "user", content: [text("go")] },
      { role: "assistant", content: step.blocks },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "1", content: "1", is_error: true },
          { type: "tool_result", tool_use_id: "2", content: "2" },
          text("and?"),
        ],
      },
    ]);
  });

  test("answers a call that has no result, drops a result that has no call", () => {
    const wire = toWireMessages([
      user("go"),
      result("x"),
      assistant(call("view", {}, "1")),
      result("y"),
      user("?"),
    ]);
    expect(wire[2]?.content).toEqual([
      { type: "tool_result", tool_use_id: "1", content: OUTCOME_UNKNOWN, is_error: true },
      text("?"),
    ]);
    expect(JSON.stringify(wire)).not.toContain('"y"');
  });

  test("leaves out empty text, and takes an assistant message without blocks as text", () => {
    expect(toWireMessages([user("go"), assistant(text(""), text("a")), user(""), user("b")])).toEqual([
      { role: "user", content: [text("go")] },
      { role: "assistant", content: [text("a")] },
      { role: "user", content: [text("b")] },
    ]);
    const plain = toWireMessages([user("go"), { role: "assistant", content: "hi" }]);
    expect(plain[1]).toEqual({ role: "assistant", content: [text("hi")] });
  });

  test("begins with the user, alternates and is paired, whatever the context holds", () => {
    const id = fc.constantFrom("1", "2", "3");
    const block = fc.oneof(
      id.map((n) => call("view", {}, n)),
      fc.constantFrom(text("a"), text("")),
    );
    const message = fc.oneof(
      fc.constantFrom(user("u"), user(""), { role: "system" as const, content: "s" }),
      fc
        .uniqueArray(block, {
          maxLength: 4,
          selector: (b) => (b.type === "tool_use" ? b.id : JSON.stringify(b)),
        })
        .map((blocks) => assistant(...blocks)),
      id.map((n) => result(n)),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
        expectPaired(toWireMessages(messages));
        // a conversation that grows by any steps comes to the same, and what it came to before stays
        const [grown, copy] = [messages.map((each) => ({ ...each })), structuredClone(messages)];
        const before: { wire: readonly WireMessage[]; text: string }[] = [];
        for (let length = 0; length <= grown.length; length++) {
          const wire = toWireMessages(grown.slice(0, length));
          expect(wire).toEqual(toWireMessages(structuredClone(copy.slice(0, length))));
          before.push({ wire, text: JSON.stringify(wire) });
        }
        for (const { wire, text } of before) expect(JSON.stringify(wire)).toBe(text);
      }),
    );
  });

  test("gives the same messages again, also those that might still have changed", () => {
    const context = [user("go")];
    for (let n = 0; n < 4; n++) context.push(assistant(call("ls", {}, `${n}`)), result(`${n}`));
    const first = toWireMessages(context);
    const second = toWireMessages([...context, assistant(call("ls", {}, "5")), result("5")]);
    expect(second).toHaveLength(first.length + 2);
    for (const [at, message] of first.entries()) expect(second[at]).toBe(message);
    const third = toWireMessages([...context, user("more")]);
    expect(third.at(-1)).not.toBe(first.at(-1));
    expect(third.at(-2)).toBe(first.at(-2));
  });

  test("leaves out the oldest images when there are too many, and gives them back to a shorter context", () => {
    const image = { type: "image", media_type: "image/png", data: "x".repeat(3 * 1024 * 1024) } as const;
    const context = [user("go")];
    for (let n = 0; n < 3; n++)
      context.push(assistant(call("view", {}, `${n}`)), { ...result(`${n}`, "shown"), media: [image] });
    const shown = (wire: readonly WireMessage[]) =>
      wire
        .flatMap(({ content }) => content)
        .map((block) => block.type === "tool_result" && block.media?.length);
    expect(shown(toWireMessages(context)).filter((each) => each !== false)).toEqual([undefined, 1, 1]);
    expect(toWireMessages(context)[2]?.content).toMatchObject([
      { content: expect.stringContaining("not shown any more") },
    ]);
    expect(shown(toWireMessages(context.slice(0, 5))).filter((each) => each !== false)).toEqual([1, 1]);
  });

  test("shows the pictures of the user after the words, the newest of all as many as there is room for", () => {
    const image = (data: string) => ({ type: "image", media_type: "image/png", data }) as const;
    const [old, large] = [image("AAAA"), image("x".repeat(6 * 1024 * 1024))];
    const context = [{ ...user("look"), media: [old] }];
    expect(toWireMessages(context)).toEqual([{ role: "user", content: [text("look"), old] }]);
    const wire = toWireMessages([...context, assistant(text("a")), { ...user("and"), media: [large] }]);
    const note = text("[a picture is not shown any more: the conversation holds newer ones]");
    expect(wire[0]?.content).toEqual([text("look"), note]);
    expect(wire[2]?.content).toEqual([text("and"), large]);
  });
});

function expectPaired(wire: readonly WireMessage[]): void {
  expect(wire[0]?.role).toBe("user");
  wire.forEach(({ role, content }, i) => {
    expect(content.length).toBeGreaterThan(0);
    if (i > 0) expect(role).not.toBe(wire[i - 1]?.role);
    const results = content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
    expect(results).toEqual(callsOf(wire[i - 1]?.content ?? []).map((made) => made.id));
    expect(content.slice(0, results.length).every((block) => block.type === "tool_result")).toBe(true);
  });
  expect(callsOf(wire.at(-1)?.content ?? [])).toEqual([]);
}
