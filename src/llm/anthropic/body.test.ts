import { describe, expect, it } from "vitest";
import type { WireMessage } from "../../abi/llm.ts";
import { bind } from "../bound.ts";
import { contractRequest } from "../contract.ts";
import { messagesBody } from "./body.ts";

const marker = { type: "ephemeral" };
const user = (text: string): WireMessage => ({ role: "user", content: [{ type: "text", text }] });
const messages: WireMessage[] = [
  user("go \u2028 on"),
  { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "ls", input: { path: "." } }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a" }] },
];

describe("messagesBody()", () => {
  it("is JSON with its members in one order, and the marker on the last message alone", () => {
    const request = contractRequest({ system: [], tools: [], stopSequences: ["x"], messages });
    const [first, call, result] = messages;
    const said = { role: "user", content: [{ ...result?.content[0], cache_control: marker }] };
    const body = {
      model: "m",
      max_tokens: 9,
      messages: [first, call, said],
      stop_sequences: ["x"],
      stream: true,
    };
    expect(messagesBody(request, "m", 9)).toBe(JSON.stringify(body));
  });

  it("spells a message that was the last without its marker when it comes again", () => {
    const request = contractRequest({ messages });
    messagesBody(request, "m", 9);
    const more = { ...request, messages: [...messages, user("and?")] };
    const again = JSON.parse(messagesBody(more, "m", 9)).messages;
    expect(again).toEqual([
      ...messages,
      { role: "user", content: [{ type: "text", text: "and?", cache_control: marker }] },
    ]);
    expect(messagesBody(more, "m", 9)).toBe(messagesBody(structuredClone(more), "m", 9));
  });

  it("leaves out what another vendor's model thought", () => {
    const bound = bind({ driver: "openai", model: "m" }, "x");
    const content: WireMessage["content"] = [
      { type: "redacted_thinking", data: bound },
      { type: "thinking", thinking: "theirs", signature: bound },
      { type: "thinking", thinking: "unsigned", signature: "" },
      { type: "thinking", thinking: "own", signature: "own" },
      { type: "redacted_thinking", data: "own" },
      { type: "text", text: "said" },
    ];
    const talk = [user("go"), { role: "assistant", content } as const, user("and?")];
    const sent = JSON.parse(messagesBody(contractRequest({ messages: talk }), "m", 9)).messages[1];
    expect(sent.content).toEqual(content.slice(3));
  });
});
