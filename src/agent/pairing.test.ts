/**
 * Whatever breaks off, ends or restarts: every call that is sent again has one result, and every block its bytes. In the
 * context a reply may lack results only while the position of the loop still holds that reply: a daemon may die inside a unit,
 * whose messages are records of their own, and the next one may be ended before it gets to them.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Block, LlmRequest } from "../abi/llm.ts";
import { LlmError } from "../abi/llm-error.ts";
import type { ContextMessage } from "../abi/sys.ts";
import { placeOf } from "./checkpoint.ts";
import { callsOf } from "./model/blocks.ts";
import { type Answer, FakeProcess, restoredFrom, StreamedReply } from "./testing/fake-process.ts";
import { call, reply, says } from "./testing/replies.ts";

interface Life {
  readonly turns: readonly Turn[];
  readonly abortAtCall: number | undefined;
  readonly kept: number;
}

interface Turn {
  readonly text: string;
  readonly calls: readonly ("view" | "write" | "nothing")[];
  /** Blocks that come before the rest; 0: it comes whole. */
  readonly early: number;
  readonly fate: "whole" | "breaks" | "cut";
}

const turn: fc.Arbitrary<Turn> = fc.record({
  text: fc.string({ maxLength: 8 }),
  calls: fc.array(fc.constantFrom("view", "write", "nothing"), { maxLength: 4 }),
  early: fc.nat(4),
  fate: fc.constantFrom("whole", "whole", "breaks", "cut"),
});
/** One daemon: what the model answers, where the process is ended, and how much of the history outlives it. */
const life: fc.Arbitrary<Life> = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
  abortAtCall: fc.option(fc.nat(60), { nil: undefined }),
  kept: fc.double({ min: 0, max: 1, noNaN: true }),
});

const tools = { view: says("a view", true), write: { ...says("written"), hasEffect: true } };
/** The first daemon dies between a reply and its result in the context, the second ends it before its first call. */
const CUT_IN_A_UNIT: Life[] = [
  {
    turns: [
      { text: "", calls: ["view"], early: 0, fate: "whole" },
      { text: "", calls: [], early: 0, fate: "whole" },
    ],
    abortAtCall: undefined,
    kept: 1 / 3,
  },
  { turns: [{ text: "", calls: [], early: 0, fate: "whole" }], abortAtCall: 0, kept: 0 },
  { turns: [{ text: "", calls: [], early: 0, fate: "whole" }], abortAtCall: undefined, kept: 1 },
];

const broken = (): LlmError => new LlmError({ kind: "stream_malformed", message: "the reply ended early" });

test("calls and results stay paired over breaks, ends and restarts; blocks are sent again as they came", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 3 }), async (lives) => {
      const made = new Map<string, string>();
      let restored: ReturnType<typeof restoredFrom> | undefined;
      for (const [n, { turns, abortAtCall, kept }] of lives.entries()) {
        const answers = turns.map((each, i) => answerOf(each, `${n}-${i}`, made));
        const process = new FakeProcess({
          answers: [...answers, ...Array.from({ length: 8 }, () => reply("done"))],
          tools,
          ...(abortAtCall === undefined ? {} : { abortAtCall: abortAtCall + 1 }),
          ...restored,
        });
        await process.run();
        for (const request of process.requests) expectPaired(request, made);
        const since = restoredFrom(process.history).restored;
        const place = since?.state === null ? restored?.restored : since;
        expectAnswered(process.messages, callIds(placeOf(place ?? null).kept?.reply.blocks));
        const before = restored?.said ?? [];
        const history = [
          ...before.map((message) => ({ kind: "message", message }) as const),
          ...process.history.slice(0, Math.ceil(process.history.length * kept)),
        ];
        const next = restoredFrom(history);
        // a daemon that recorded nothing new finds what the last one found
        const isNew = history.some(({ kind }) => kind === "state");
        restored = isNew
          ? next
          : { ...next, ...(restored === undefined ? {} : { restored: restored.restored }) };
      }
    }),
    { numRuns: 200, examples: [[CUT_IN_A_UNIT]] },
  );
});

function answerOf({ text, calls, early, fate }: Turn, id: string, made: Map<string, string>): Answer {
  const blocks: Block[] = [
    { type: "text", text: text === "" ? "so" : text },
    ...calls.map((name, i) => call(name, { n: i, text }, `${id}-${i}`)),
  ];
  for (const block of blocks) if (block.type === "tool_use") made.set(block.id, JSON.stringify(block));
  const whole = reply(blocks, fate === "cut" ? { stopReason: "max_tokens" } : {});
  const rest = async () => {
    // whatever can begin begins
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
    return fate === "breaks" ? broken() : whole;
  };
  if (early > 0) return new StreamedReply(blocks.slice(0, early), rest);
  return fate === "breaks" ? broken() : whole;
}

/** In the context too, where nothing repairs it. `held`: the calls of the reply that the next daemon takes up. */
function expectAnswered(messages: readonly ContextMessage[], held: readonly string[]): void {
  const answered = messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
  const asked = messages.flatMap(({ blocks }) => callIds(blocks));
  const missing = asked.slice(answered.length);
  expect(answered).toEqual(asked.slice(0, answered.length));
  expect(missing).toEqual(held.slice(held.length - missing.length));
}

function callIds(blocks: readonly Block[] = []): string[] {
  return callsOf(blocks).map(({ id }) => id);
}

function expectPaired({ messages }: LlmRequest, made: ReadonlyMap<string, string>): void {
  expect(messages[0]?.role).toBe("user");
  for (const [i, { role, content }] of messages.entries()) {
    expect(role).toBe(i % 2 === 0 ? "user" : "assistant");
    const calls = content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
    for (const block of calls) expect(JSON.stringify(block)).toBe(made.get(block.id));
    const results = (messages[i + 1]?.content ?? []).flatMap((block) =>
      block.type === "tool_result" ? [block.tool_use_id] : [],
    );
    if (role === "assistant") expect(results).toEqual(calls.map((block) => block.id));
  }
}
