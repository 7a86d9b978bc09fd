import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireMessage } from "../../abi/llm.ts";
import { bind } from "../bound.ts";
import { contractRequest } from "../contract.ts";
import type { AttemptRequest } from "../driver.ts";
import { messagesBody } from "./body.ts";

const marker = { type: "ephemeral" };
const user = (text: string): WireMessage => ({ role: "user", content: [{ type: "text", text }] });
const messages: WireMessage[] = [
  user("go \u2028 on"),
  { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "ls", input: { path: "." } }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a" }] },
];
const bodyOf = (request: AttemptRequest): string =>
  messagesBody(request, { before: { model: "m", max_tokens: 9 }, after: { stream: true } });
const marked = (message: WireMessage | undefined) => ({
  ...message,
  content: [...(message?.content.slice(0, -1) ?? []), { ...message?.content.at(-1), cache_control: marker }],
});

describe("messagesBody()", () => {
  it("is JSON with its members in one order, marked at the ends of the last turn and of all", () => {
    const request = contractRequest({ system: [], tools: [], stopSequences: ["x"], messages });
    const [first, call, result] = messages;
    const body = {
      model: "m",
      max_tokens: 9,
      messages: [marked(first), call, marked(result)],
      stop_sequences: ["x"],
      stream: true,
    };
    expect(bodyOf(request)).toBe(JSON.stringify(body));
  });

  it("spells a message without its marker when two turns have followed", () => {
    const request = contractRequest({ messages });
    bodyOf(request);
    const reply: WireMessage = { role: "assistant", content: [{ type: "text", text: "so" }] };
    const more = { ...request, messages: [...messages, reply, user("and?")] };
    const [first, call, result] = messages;
    expect(JSON.parse(bodyOf(more)).messages).toEqual([
      first,
      call,
      marked(result),
      reply,
      marked(user("and?")),
    ]);
    expect(bodyOf(more)).toBe(bodyOf(structuredClone(more)));
  });

  it("marks the ends of the static and of the whole system prompt, for an hour if so configured", () => {
    const system = [
      { text: "one", zone: "static" as const },
      { text: "two", zone: "dynamic" as const },
      { text: "three", zone: "dynamic" as const },
    ];
    const parts = (cacheTtl: "5m" | "1h" | "off") =>
      JSON.parse(bodyOf(contractRequest({ system, cacheTtl }))).system.map(
        ({ cache_control: told }: { cache_control?: object }) => told,
      );
    expect(parts("5m")).toEqual([marker, undefined, marker]);
    expect(parts("1h")).toEqual([{ ...marker, ttl: "1h" }, undefined, { ...marker, ttl: "1h" }]);
    expect(parts("off")).toEqual([undefined, undefined, undefined]);
    expect(bodyOf(contractRequest({ system, messages, cacheTtl: "off" }))).not.toContain("cache_control");
  });

  it("never has more than four markers, none on thinking, and the same bytes before them each turn", () => {
    const thought = { type: "thinking", thinking: "", signature: "s" } as const;
    const call = (id: string) => ({ type: "tool_use", id, name: "ls", input: {} }) as const;
    const turn = fc.record({ thinks: fc.boolean(), speaks: fc.boolean(), calls: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 6 }), (turns) => {
        const said: WireMessage[] = [user("go")];
        let before = "";
        for (const [at, { thinks, speaks, calls }] of turns.entries()) {
          const ids = Array.from({ length: calls }, (_, n) => `t${at}_${n}`);
          said.push({
            role: "assistant",
            content: [
              ...(thinks ? [thought] : []),
              ...(speaks ? [{ type: "text", text: "a" } as const] : []),
              ...ids.map(call),
            ],
          });
          said.push({
            role: "user",
            content:
              calls === 0
                ? [{ type: "text", text: "b" }]
                : ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "r" })),
          });
          const text = bodyOf(contractRequest({ messages: [...said] }));
          expect(text.match(/cache_control/g)?.length ?? 0).toBeLessThanOrEqual(4);
          // the last message is the model's own after a pause, and may end with a thought
          const paused = bodyOf(contractRequest({ messages: said.slice(0, -1) }));
          for (const each of [text, paused])
            expect(each).not.toMatch(/"type":"(redacted_)?thinking"[^}]*cache_control/);
          const bare = text.replaceAll(/,"cache_control":\{[^}]*\}/g, "");
          const prefix = bare.slice(0, bare.lastIndexOf("]"));
          expect(prefix.startsWith(before)).toBe(true);
          before = prefix;
        }
      }),
      { numRuns: 50 },
    );
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
    const sent = JSON.parse(bodyOf(contractRequest({ messages: talk }))).messages[1];
    expect(sent.content).toEqual(content.slice(3));
  });
});
