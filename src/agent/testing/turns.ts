/** For tests: turns of an agent as far as shortening its view needs them. */
import type { ContextMove, Measures, WindowFacts } from "../../abi/context.ts";
import { asCtxId } from "../../abi/ids.ts";
import type { LlmRequest } from "../../abi/llm.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { ContextMessage, Prompt, Sys } from "../../abi/sys.ts";
import { messageTokens } from "../../lib/tokens/message.ts";
import type { Turn } from "../context/turn.ts";
import { reply } from "./replies.ts";

export const facts = (window: number): WindowFacts => ({
  window,
  maxOutput: 8_000,
  auto: true,
  compact: true,
});

export const viewed = (id: string): ContextMessage[] => [
  { role: "assistant", content: "", blocks: [{ type: "tool_use", id, name: "view", input: {} }] },
  { role: "tool", content: "x".repeat(20_000), tool_call_id: id },
];
export const eightViews: readonly ContextMessage[] = [
  { role: "user", content: "read all" },
  ...["a", "b", "c", "d", "e", "f", "g", "h"].flatMap(viewed),
];

/** A turn of about 40,000 tokens, or of these messages; what it moved, sent, and reported. */
export function turnWith(
  index: number,
  { number = 1, summary = "## Goal: all is read", messages = eightViews } = {},
) {
  const moves: ContextMove[] = [];
  const sent: LlmRequest["purpose"][] = [];
  const breakers: unknown[] = [];
  const logged: string[] = [];
  const sys = {
    ctxView: async () => ({
      ...{ head: moves.length, records: messages.length, undoable: 0, pins: [] },
      view: { put: null, keep: [], clears: [], tailFrom: 1 },
      numbers: messages.map((_, i) => i + 1),
    }),
    ctxMove: async (_cid: unknown, move: ContextMove) => moves.push(move),
    log: (_level: unknown, text: string) => logged.push(text),
    measured: ({ breaker }: Measures) => breakers.push(breaker),
    ending: new AbortController().signal,
  } as unknown as Sys;
  const prompt: Prompt = { systemPrompt: "", messages };
  const turn: Turn = {
    ...{
      sys,
      start: { ctxId: asCtxId(1), modelDevice: "/dev/llm/a" } as ProgramStart,
      number,
      prompt,
      index,
    },
    ...{ model: { device: "/dev/llm/a", model: "" }, sections: [] },
    renew: async (isCut) => (isCut ? { ...prompt, messages: messages.slice(-2) } : prompt),
    make: (of, most) => {
      const estimate = of.messages.reduce((sum, each) => sum + messageTokens(each), 0);
      const maxOutputTokens = Math.min(8_000, most);
      const request = {
        purpose: "main",
        requestId: "r",
        maxOutputTokens,
        system: [],
        tools: [],
      } as unknown as LlmRequest;
      return { request, estimate, escalatedOutputTokens: 64_000 };
    },
    aside: async ({ purpose }) => {
      sent.push(purpose);
      return reply("ok");
    },
    send: async ({ purpose }) => {
      sent.push(purpose);
      return reply(purpose === "compact" ? summary : "ok");
    },
  };
  return { turn, moves, sent, breakers, logged };
}
