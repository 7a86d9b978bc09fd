/** What a summary of a part leaves in view: the other side as it was, whole pairs, pins, and words of the user. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ViewPart, ViewState } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { partOf } from "./part.ts";
import { unitsOf } from "./units.ts";

const words = (content: string): ContextMessage => ({ role: "user", content });
const step = (id: string): ContextMessage[] => [
  { role: "assistant", content: "", blocks: [{ type: "tool_use", id, name: "view", input: {} }] },
  { role: "tool", content: `result ${id}`, tool_call_id: id },
];
/** 1 the intent, 2 3 a step, 4 words, 5 6 a step, 7 8 a step. */
const MESSAGES = [words("intent"), ...step("a"), words("rule"), ...step("b"), ...step("c")];

function stateOf(messages: readonly ContextMessage[], pins: readonly number[] = []): ViewState {
  const view = { put: null, keep: [], clears: [], tailFrom: 1 };
  const numbers = messages.map((_, i) => i + 1);
  return { head: 0, records: messages.length, undoable: 0, pins, view, numbers };
}

const part = (wish: ViewPart, { room = 1_000, pins = [] as readonly number[] } = {}) => {
  const state = stateOf(MESSAGES, pins);
  return partOf(unitsOf(MESSAGES, state), state, { ...wish, room });
};

test("`up_to` leaves the message and all after it; the user's words before it stay, too", () => {
  expect(part({ side: "up_to", message: 5 })).toMatchObject({ keep: [[1, 1]], tailFrom: 4, folds: [] });
  expect(part({ side: "up_to", message: 5 })).not.toHaveProperty("behind");
  // a message in the middle of a pair stands for the whole pair
  expect(part({ side: "up_to", message: 6 }).tailFrom).toBe(4);
  expect(part({ side: "up_to", message: 6 }, { room: 0 })).toMatchObject({
    keep: [],
    tailFrom: 5,
    lostWords: 2,
  });
});

test("`from` leaves the message and all before it; what follows stands behind it", () => {
  const next = part({ side: "from", message: 2 });
  expect(next).toMatchObject({ keep: [[1, 4]], tailFrom: 9, behind: 3, lostWords: 0 });
  expect(next.covered.flatMap(({ parts }) => parts.map(({ n }) => n))).toEqual([5, 6, 7, 8]);
  const pinned = part({ side: "from", message: 2 }, { pins: [5], room: 0 });
  expect(pinned).toMatchObject({ tailFrom: 9, behind: 3, lostWords: 1 });
  expect(pinned.keep).toEqual([
    [1, 3],
    [5, 6],
  ]);
});

test("a message that is not in view is NOT_FOUND, and nothing to summarise on that side is INVALID", () => {
  expect(() => part({ side: "from", message: 9 })).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  for (const wish of [
    { side: "from", message: 7 },
    { side: "up_to", message: 1 },
    { side: "up_to", message: 2 },
  ] as const)
    expect(() => part(wish)).toThrow(expect.objectContaining({ code: "INVALID" }));
  expect(() => part({ side: "from", message: 6 }, { pins: [7] })).toThrow(
    expect.objectContaining({ code: "INVALID" }),
  );
});

test("summaries on the side that stays are kept, and the others are summarised", () => {
  const messages = [
    words("<crux-note>all before</crux-note>"),
    ...MESSAGES,
    words("<crux-note>then</crux-note>"),
  ];
  // the first summary is message 10, one behind message 4 is 9
  const numbers = [10, 1, 2, 3, 4, 9, 5, 6, 7, 8];
  const [first, ...others] = messages;
  const shown = [first!, ...others.slice(0, 4), others.at(-1)!, ...others.slice(4, -1)];
  const view = {
    put: 10,
    folds: [{ n: 9, after: 4 }],
    keep: [[1, 4] as const],
    clears: [{ n: 3 }],
    tailFrom: 5,
  };
  const state = { ...stateOf(shown), records: 10, view, numbers };
  const units = unitsOf(shown, state);
  const left = { room: 1_000 };
  expect(partOf(units, state, { side: "from", message: 9, ...left })).toMatchObject({
    ...{ keep: [[1, 4]], clears: [{ n: 3 }], tailFrom: 9, folds: [9], behind: 4 },
  });
  expect(partOf(units, state, { side: "from", message: 10, ...left })).toMatchObject({
    folds: [],
    behind: 0,
  });
  expect(partOf(units, state, { side: "up_to", message: 5, ...left })).toMatchObject({
    ...{ clears: [], tailFrom: 5, folds: [] },
    keep: [
      [1, 1],
      [4, 4],
    ],
  });
});

test("whatever the message, the other side stays as it is, and no pair is torn", () => {
  const kinds = fc.array(fc.boolean(), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(kinds, fc.nat(19), fc.constantFrom("from", "up_to"), fc.nat(40), (steps, at, side, room) => {
      const messages = steps.flatMap((isStep, i) => (isStep ? step(`c${i}`) : [words(`w${i}`)]));
      const state = stateOf(messages);
      const units = unitsOf(messages, state);
      const message = (at % messages.length) + 1;
      let next: ReturnType<typeof partOf>;
      try {
        next = partOf(units, state, { side, message, room });
      } catch (error) {
        expect(error).toMatchObject({ code: "INVALID" });
        return;
      }
      const shown = (n: number) => n >= next.tailFrom || next.keep.some(([a, b]) => a <= n && n <= b);
      const picked = next.picked.parts.map(({ n }) => n);
      for (const [i, { role }] of messages.entries()) {
        const n = i + 1;
        if (role === "tool") expect(shown(n)).toBe(shown(i));
        const stays = side === "up_to" ? n >= (picked[0] ?? 0) : n <= (picked.at(-1) ?? 0);
        if (stays) expect(shown(n)).toBe(true);
      }
    }),
    { seed: 1407, numRuns: 500 },
  );
});
