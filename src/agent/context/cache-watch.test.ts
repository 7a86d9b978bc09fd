/** What is said when the provider's cache is not read: the part that changed, and nothing where nothing of ours did. */
import { expect, test } from "vitest";
import type { LlmRequest, Usage, WireMessage } from "../../abi/llm.ts";
import { CacheWatch } from "./cache-watch.ts";

const tool = (name: string, description = "") => ({ name, description, inputSchema: {} });
const said = (text: string): WireMessage => ({ role: "user", content: [{ type: "text", text }] });
const FIRST = {
  system: [{ text: "You are Crux.", zone: "static" }],
  tools: [tool("view"), tool("bash")],
  messages: [said("a")],
} as unknown as LlmRequest;

const usage = (read: number, creation = 0): Usage => ({
  ...{ input_tokens: 10, output_tokens: 5 },
  ...{ cache_read_input_tokens: read, cache_creation_input_tokens: creation },
});

test.each<[string, Partial<LlmRequest>, string]>([
  ["schema", { tools: [tool("view"), tool("bash", "other")] }, "the schema of bash"],
  ["new tool", { tools: [tool("view"), tool("bash"), tool("x")] }, "the schema of x"],
  ["order of tools", { tools: [tool("bash"), tool("view")] }, "the order of the tools"],
  ["system prompt", { system: [] }, "the system prompt"],
  ["message", { messages: [said("b"), said("c")] }, "message 1 of 2"],
])("a changed %s is named", (_name, change, words) => {
  const watch = new CacheWatch();
  expect(watch.answered(FIRST, usage(0, 9_000))).toBeUndefined();
  const more = { ...FIRST, messages: [...FIRST.messages, said("more")] };
  expect(watch.answered(more, usage(9_000, 50))).toBeUndefined();
  expect(watch.answered({ ...FIRST, ...change }, usage(1_000))).toBe(
    `llm.cache_break: 8050 tokens were not read from the prompt cache, because ${words} changed`,
  );
});

test("nothing is said of a small loss, of a cache that ended by itself, and after the view has moved", () => {
  const watch = new CacheWatch();
  const other = { ...FIRST, system: [] };
  watch.answered(FIRST, usage(9_000));
  expect(watch.answered(other, usage(7_500))).toBeUndefined();
  watch.answered(FIRST, usage(9_000));
  expect(watch.answered(FIRST, usage(0))).toBeUndefined();
  watch.answered(FIRST, usage(9_000));
  watch.forget();
  expect(watch.answered(other, usage(0))).toBeUndefined();
});
