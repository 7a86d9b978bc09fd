import { describe, expect, it } from "vitest";
import type { WireMessage } from "../../abi/llm.ts";
import { contractRequest } from "../contract.ts";
import type { AttemptRequest } from "../driver.ts";
import { type Manner, responsesBody } from "./body.ts";
import { responsesCodec } from "./codec.ts";
import { phaseMark, signatureOf } from "./reasoning.ts";

const maker = { driver: "openai", model: "m" };
const manner: Manner = { reasons: () => true, effort: () => undefined };
const bodyOf = (part: Partial<AttemptRequest>, by = maker) =>
  JSON.parse(responsesBody(contractRequest(part), by, { maxOutputTokens: 99, manner }));
const user = (text: string): WireMessage => ({ role: "user", content: [{ type: "text", text }] });
const reasoning = (id: string, ...parts: string[]) => ({
  type: "reasoning",
  id,
  summary: parts.map((text) => ({ type: "summary_text", text })),
  encrypted_content: `secret of ${id}`,
});
const thought = (id: string, ...parts: string[]) => ({
  type: "thinking" as const,
  thinking: parts.join("\n\n"),
  signature: signatureOf(reasoning(id, ...parts), maker) ?? "",
});

describe("responsesBody()", () => {
  it("sends system, tools and messages as the interface has them", () => {
    const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
    const messages: WireMessage[] = [
      user("go"),
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "view", input: { path: "x" } }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "seen", media: [image] },
          { type: "text", text: "and this" },
        ],
      },
    ];
    const body = bodyOf({ messages });
    expect(body).toMatchObject({
      model: "m",
      instructions: "You are a test.",
      tools: [{ type: "function", name: "view", parameters: { type: "object" }, strict: false }],
      max_output_tokens: 99,
    });
    expect(body.input).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] },
      { type: "function_call", call_id: "c1", name: "view", arguments: '{"path":"x"}' },
      {
        type: "function_call_output",
        call_id: "c1",
        output: [
          { type: "input_text", text: "seen" },
          { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
        ],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "and this" }] },
    ]);
  });

  it("gives reasoning and phases back as they came, to their model alone", () => {
    const messages: WireMessage[] = [
      user("go"),
      {
        role: "assistant",
        content: [
          thought("r1", "one", "", "three"),
          { type: "redacted_thinking", data: phaseMark("commentary", maker) },
          { type: "text", text: "Looking." },
        ],
      },
      user("and?"),
    ];
    const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Looking." }] };
    expect(bodyOf({ messages }).input.slice(1, 3)).toEqual([
      reasoning("r1", "one", "", "three"),
      { ...said, phase: "commentary" },
    ]);
    expect(bodyOf({ messages }, { ...maker, model: "other" }).input.slice(1, 2)).toEqual([said]);
  });

  it("sends a summary that was changed since in one part", () => {
    const changed = { ...thought("r1", "my key", "is x"), thinking: "my key\n\nis [redacted]" };
    const content = [changed, { type: "text" as const, text: "Done." }];
    const [item] = bodyOf({
      messages: [user("go"), { role: "assistant", content }, user("and?")],
    }).input.slice(1);
    expect(item).toEqual(reasoning("r1", "my key\n\nis [redacted]"));
  });

  it("leaves out reasoning that led to nothing", () => {
    const content = [{ type: "text" as const, text: "Done." }, thought("r1", "cut off")];
    const { input } = bodyOf({ messages: [user("go"), { role: "assistant", content }, user("and?")] });
    expect(input.map((item: { type: string }) => item.type)).toEqual(["message", "message", "message"]);
  });

  it("spells a conversation that has grown as a new one", () => {
    const messages = [user("go"), { role: "assistant" as const, content: [thought("r1", "hm")] }, user("a")];
    bodyOf({ messages });
    const grown = [...messages, user("b")];
    expect(bodyOf({ messages: grown })).toEqual(bodyOf({ messages: structuredClone(grown) }));
  });

  it("sends no temperature to a model that reasons", () => {
    expect(bodyOf({ temperature: 0 }).temperature).toBeUndefined();
    const plain = { ...manner, reasons: () => false };
    const options = { maxOutputTokens: 1, manner: plain };
    const body = JSON.parse(responsesBody(contractRequest({ temperature: 0 }), maker, options));
    expect(body).toMatchObject({ temperature: 0, max_output_tokens: 16 });
    expect(body.include).toBeUndefined();
  });
});

describe("responsesCodec()", () => {
  const endpoint = {
    ...{ device: "", vendor: "", keyName: "", secret: "k", unreachableHint: "" },
    baseUrl: "https://api.openai.com/v1",
  };
  it.each([
    ["gpt-6.1-terra", "max", { effort: "xhigh" }, true],
    ["gpt-5", "max", { effort: "high" }, true],
    ["gpt-5", "xhigh", { effort: "high" }, true],
    ["gpt-5", "low", { effort: "low" }, true],
    ["gpt-5", undefined, undefined, true],
    ["gpt-4o", "high", undefined, false],
    ["gpt-5-chat-latest", "high", undefined, false],
  ] as const)("asks the vendor's %s for effort %s as %j", (model, effort, sent, isReasoning) => {
    const request = contractRequest(effort === undefined ? {} : { effort });
    const body = JSON.parse(
      responsesCodec("openai", endpoint).body(request, model, { maxOutputTokens: 100, facts: {} }),
    );
    expect(body.reasoning).toEqual(sent);
    expect(body.include !== undefined).toBe(isReasoning);
  });
});
