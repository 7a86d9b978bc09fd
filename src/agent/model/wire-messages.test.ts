import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Block, WireMessage } from "../../abi/llm.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { callsOf } from "../decide.ts";
import { call } from "../testing.ts";
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
      fc.property(fc.array(message, { maxLength: 20 }), (messages) => expectPaired(toWireMessages(messages))),
    );
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
