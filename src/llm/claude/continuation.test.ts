import { expect, test } from "vitest";
import type { Block, WireMessage } from "../../abi/llm.ts";
import { nextTurn, resultFor, type ToolResult } from "./continuation.ts";

const text = (said: string): Block => ({ type: "text", text: said });
const user = (...content: Block[]): WireMessage => ({ role: "user", content });
const own = (...content: Block[]): WireMessage => ({ role: "assistant", content });
const call = (id: string): Block => ({ type: "tool_use", id, name: "view", input: { n: 1 } });
const result = (id: string, content = "seen"): Block => ({ type: "tool_result", tool_use_id: id, content });
const thought: Block = { type: "thinking", thinking: "hm", signature: "s" };

const sent = [user(text("one"))];
const calls = { sent, reply: [thought, text("I look"), call("a"), call("b")] };
const said = { sent, reply: [text("so it is")] };

test("nextTurn() after calls is their results; notes of Crux go with the last one", () => {
  const note = "<crux-note>Mode plan</crux-note>";
  const messages = [
    ...sent,
    own(text("I look"), call("a"), call("b")),
    user(result("a"), result("b"), text(note)),
  ];
  expect(nextTurn(calls, messages)).toEqual({
    kind: "results",
    results: new Map([
      ["a", { name: "view", input: { n: 1 }, texts: ["seen"], isError: false }],
      ["b", { name: "view", input: { n: 1 }, texts: ["seen", note], isError: false }],
    ]),
  });
});

test("nextTurn() after words is what the user says", () => {
  const messages = [...sent, own(text("so it is")), user(text("two"), text("three"))];
  expect(nextTurn(said, messages)).toEqual({ kind: "message", texts: ["two", "three"] });
});

test.each([
  ["the beginning has changed", said, [user(text("other")), own(text("so it is")), user(text("two"))]],
  ["the reply has changed", said, [...sent, own(text("so it was")), user(text("two"))]],
  ["it is the same request again", said, sent],
  [
    "more than one reply has come",
    said,
    [...sent, own(text("so it is")), user(text("x")), own(text("y")), user(text("z"))],
  ],
  ["a result is missing", calls, [...sent, own(...calls.reply), user(result("a"))]],
  ["results are in another order", calls, [...sent, own(...calls.reply), user(result("b"), result("a"))]],
  [
    "the user spoke among results",
    calls,
    [...sent, own(...calls.reply), user(result("a"), result("b"), text("stop"))],
  ],
] as const)("nextTurn() is undefined where %s", (_, known, messages) => {
  expect(nextTurn(known, messages)).toBeUndefined();
});

const made = (name: string, n: number, said = "seen"): ToolResult => ({
  name,
  input: { n, deep: [{ a: 1, b: 2 }] },
  texts: [said],
  isError: false,
});

test.each([
  ["a", "the one of its name and input", [made("view", 1), made("view", 2), made("grep", 1)]],
  ["a", "the only one of its name, also with another input", [made("view", 9), made("grep", 1)]],
  ["a", "either of two that are the same", [made("view", 1), made("view", 1)]],
  [undefined, "none of two that differ in their results", [made("view", 1), made("view", 1, "other")]],
  [undefined, "none of several of its name with other inputs", [made("view", 2), made("view", 3, "other")]],
  [undefined, "none of another name", [made("grep", 1)]],
])("resultFor() is %s: %s", (id, _, results) => {
  const call = { name: "view", input: { deep: [{ b: 2, a: 1 }], n: 1 } };
  expect(resultFor(call, new Map(results.map((each, i) => ["abc".charAt(i), each])))).toBe(id);
});
