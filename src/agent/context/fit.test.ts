/** What stays in view when a conversation is shortened: whole pairs, the newest step, the words of the user. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ViewState } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { newestThatFit } from "./fit.ts";
import { clearOld } from "./micro.ts";
import { unitsOf } from "./units.ts";

const words = (content: string): ContextMessage => ({ role: "user", content });
const step = (id: string, chars: number, path = id): ContextMessage[] => [
  {
    ...{ role: "assistant", content: "" },
    blocks: [{ type: "tool_use", id, name: "view", input: { file_path: path } }],
  },
  { role: "tool", content: "x".repeat(chars), tool_call_id: id },
];
const whole = (messages: readonly ContextMessage[]): ViewState => ({
  ...{ head: 0, records: messages.length, undoable: 0, pins: [] },
  view: { put: null, keep: [], clears: [], tailFrom: 1 },
  numbers: messages.map((_, i) => i + 1),
});

describe("newestThatFit()", () => {
  test("keeps the newest whole steps, and the user's words before them, but no notes", () => {
    const messages = [
      ...[words("intent"), ...step("a", 4_000), words("<crux-note>n</crux-note>"), words("rule")],
      ...[...step("b", 4_000), ...step("c", 4_000)],
    ];
    const state = whole(messages);
    const fit = newestThatFit(unitsOf(messages, state), state, { tail: 1_200, words: 100 });
    expect(fit).toMatchObject({
      keep: [
        [1, 1],
        [5, 5],
      ],
      tailFrom: 8,
      clears: [],
      lostWords: 0,
    });
    expect(fit.covered.map(({ kind }) => kind)).toEqual(["step", "note", "step"]);
  });

  test("shortens the results of the newest step if it alone is too long", () => {
    const messages = [words("intent"), ...step("a", 400), ...step("b", 400_000)];
    const state = whole(messages);
    const fit = newestThatFit(unitsOf(messages, state), state, { tail: 1_000, words: 100 });
    expect(fit.tailFrom).toBe(4);
    expect(fit.clears).toMatchObject([{ n: 5 }]);
    expect(fit.clears[0]?.keep).toBeGreaterThan(2_000);
    expect(fit.clears[0]?.keep).toBeLessThan(4_000);
  });

  test("keeps words that are not answered yet, and the first and the newest words of others", () => {
    const messages = [
      words("first"),
      words("y".repeat(4_000)),
      words("new"),
      ...step("a", 40),
      words("now?"),
    ];
    const state = whole(messages);
    const fit = newestThatFit(unitsOf(messages, state), state, { tail: 1, words: 40 });
    expect(fit).toMatchObject({
      keep: [
        [1, 1],
        [3, 3],
      ],
      tailFrom: 6,
      lostWords: 1,
    });
  });

  test("keeps what is pinned, whole and as it was, whatever the room; clearing old results leaves it, too", () => {
    const anyMessages = fc.array(fc.oneof(fc.constant(null), fc.nat(9_000)), { minLength: 1, maxLength: 12 });
    const anyPins = fc.array(fc.nat(23), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(anyMessages, anyPins, fc.nat(4_000), (sizes, wanted, tail) => {
        const messages = sizes.flatMap((size, i) => (size === null ? [words(`w${i}`)] : step(`c${i}`, size)));
        const pins = wanted.map((n) => (n % messages.length) + 1);
        const state = { ...whole(messages), pins };
        const units = unitsOf(messages, state);
        const fit = newestThatFit(units, state, { tail, words: tail });
        const shown = (n: number) => n >= fit.tailFrom || fit.keep.some(([a, b]) => a <= n && n <= b);
        const cleared = clearOld(units, state, 0)?.clears ?? [];
        for (const unit of units.filter(({ parts }) => parts.some(({ n }) => pins.includes(n))))
          for (const { n } of unit.parts) {
            expect(shown(n)).toBe(true);
            expect([...fit.clears, ...cleared].some((each) => each.n === n)).toBe(false);
          }
      }),
      { seed: 1406, numRuns: 500 },
    );
  });

  test("never tears a pair nor gives back what was cleared, whatever the room", () => {
    const anyMessages = fc.array(fc.oneof(fc.constant(null), fc.nat(9_000)), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(anyMessages, fc.nat(4_000), fc.nat(2_000), (sizes, tail, room) => {
        const messages = sizes.flatMap((size, i) => (size === null ? [words(`w${i}`)] : step(`c${i}`, size)));
        const plain = whole(messages);
        const first = messages.findIndex(({ role }) => role === "tool") + 1;
        const clears = first === 0 ? [] : [{ n: first, keep: 5 }];
        const state = { ...plain, view: { ...plain.view, clears } };
        const fit = newestThatFit(unitsOf(messages, state), state, { tail, words: room });
        const shown = (n: number) => n >= fit.tailFrom || fit.keep.some(([a, b]) => a <= n && n <= b);
        for (const [i, { role }] of messages.entries())
          if (role === "tool") expect(shown(i + 1)).toBe(shown(i));
        if (first > 0 && shown(first)) {
          const kept = fit.clears.find(({ n }) => n === first);
          expect(kept?.keep ?? 0).toBeLessThanOrEqual(5);
          expect(kept).toBeDefined();
        }
        expect(messages.some((_, i) => shown(i + 1))).toBe(true);
      }),
    );
  });
});

test("clearOld() leaves the newest five results, frees enough or nothing, and does nothing twice", () => {
  const messages = [words("intent"), ...Array.from({ length: 8 }, (_, i) => step(`c${i}`, 8_000)).flat()];
  const state = whole(messages);
  const found = clearOld(unitsOf(messages, state), state, 1);
  expect(found?.clears).toEqual([{ n: 3 }, { n: 5 }, { n: 7 }]);
  const cleared = { ...state, view: { ...state.view, clears: found?.clears ?? [] } };
  expect(clearOld(unitsOf(messages, cleared), cleared, 1)).toBeUndefined();
  const few = messages.slice(0, 15);
  expect(clearOld(unitsOf(few, whole(few)), whole(few), 1)).toBeUndefined();
});

test("clearOld() clears nothing that cannot be had again", () => {
  const messages = Array.from({ length: 12 }, (_, i) => step(`c${i}`, 8_000)).flat();
  const names = ["view", "send", "bash", "agent", "grep", "memory"];
  const mixed = messages.map(({ blocks, ...each }, i) => ({
    ...each,
    ...(blocks && { blocks: blocks.map((block) => ({ ...block, name: names[(i / 2) % 6] as string })) }),
  }));
  const state = whole(mixed);
  // of view, bash and grep there are six results, of which the newest five stay
  expect(clearOld(unitsOf(mixed, state), state, 0.1)?.clears).toEqual([{ n: 2 }]);
});
