import { expect, test } from "vitest";
import { pastOf } from "./session-facts.ts";

test("pastOf() tells an editor how a run ended that did not end well, after what was said", async () => {
  const item = { calls: [], at: "", seq: 1 };
  const end = { outcome: "failed", message: "no key", hint: "crux auth login" };
  const messages = [
    { ...item, role: "user", text: "go", end },
    { ...item, role: "user", text: "again" },
    { ...item, role: "assistant", text: "Half", end: { outcome: "limit", message: "max steps exceeded" } },
  ];
  const past = await pastOf((async () => ({ messages })) as never, 1, "/usr");
  expect(past.map((update) => [update.sessionUpdate, "content" in update && update.content])).toEqual([
    ["user_message_chunk", { type: "text", text: "go" }],
    ["agent_message_chunk", { type: "text", text: "Error: no key\ncrux auth login" }],
    ["user_message_chunk", { type: "text", text: "again" }],
    ["agent_message_chunk", { type: "text", text: "Half" }],
    ["agent_message_chunk", { type: "text", text: "\n\nError: max steps exceeded" }],
  ]);
});
