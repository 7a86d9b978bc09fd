import { describe, expect, test } from "vitest";
import { asCtxId } from "../../abi/ids.ts";
import { summarise } from "./summary.ts";

const messages = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ role: "user", content: `message ${n + 1}` }) as const);

describe("summarise()", () => {
  test("has the documented lines", () => {
    const lines = summarise({
      cid: asCtxId(3),
      systemPrompt: "be brief",
      messages: [
        { role: "user", content: "分析\n代码\r\nnow" },
        { role: "assistant", content: `${"ü".repeat(79)}😀tail` },
        { role: "tool", content: "", tool_call_id: "t" },
      ],
      capacity: 64,
    });
    expect(lines.split("\n")).toEqual([
      "ctx 3: 3/64 messages, 31 tokens",
      "system: 8 chars",
      "1 user: 分析 代码 now",
      `2 assistant: ${"ü".repeat(79)}😀`,
      "3 tool: ",
    ]);
  });

  test("shows at most the last 50 messages, with their own numbers", () => {
    const lines = summarise({
      cid: asCtxId(1),
      systemPrompt: "",
      messages: messages(60),
      capacity: 64,
    }).split("\n");
    expect(lines).toHaveLength(52);
    expect([lines[2], lines.at(-1)]).toEqual(["11 user: message 11", "60 user: message 60"]);
  });
});
