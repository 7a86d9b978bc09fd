import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CONTEXT_PARTS, type ContextGauge, RECALLED } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { messageTokens } from "../../lib/tokens/message.ts";
import { statOf, UNMEASURED } from "./stat.ts";
import { noViews } from "./view.ts";

const user = (content: string): ContextMessage => ({ role: "user", content });
const said = (content: string): ContextMessage => ({ role: "assistant", content });
const result = (content: string): ContextMessage => ({ role: "tool", content, tool_call_id: "a" });

const GAUGE: ContextGauge = { ...UNMEASURED, beside: { system: 900, tools: 600 } };

function seen(gauge: ContextGauge, messages: readonly ContextMessage[]) {
  const views = { ...noViews(), count: messages.length };
  return { gauge, moves: [], views, messages, numbers: messages.map((_, i) => i + 1) };
}

const sum = (parts: Readonly<Record<string, number>>) => Object.values(parts).reduce((a, b) => a + b, 0);

describe("statOf()", () => {
  test("has what the last reply reported, exactly, until something is added", () => {
    const gauge = { ...GAUGE, reported: { tokens: 5_000, records: 1 } };
    const told = [user("do it"), said("done")];
    expect(statOf(seen(gauge, told))).toMatchObject({ used: 5_000, exact: true, level: "ok" });
    const more = result("x".repeat(4_000));
    const { used, exact, parts } = statOf(seen(gauge, [...told, more]));
    expect({ used, exact }).toEqual({ used: 5_000 + Math.ceil(messageTokens(more) * 1.1), exact: false });
    expect(parts.results).toBeGreaterThan(parts.system);
  });

  test("counts a note of memory that was recalled as memory", () => {
    const { parts } = statOf(seen(UNMEASURED, [user("x"), user(`${RECALLED}\n${"note ".repeat(400)}`)]));
    expect(parts.memory).toBeGreaterThan(400);
  });

  test("names the level by the thresholds of the window", () => {
    const at = (tokens: number, more: Partial<ContextGauge> = {}) =>
      statOf(seen({ ...GAUGE, ...more, maxOutput: 64_000, reported: { tokens, records: 0 } }, [])).level;
    expect([at(146_999), at(147_000), at(176_999), at(177_000)]).toEqual(["ok", "warn", "warn", "blocked"]);
    expect([at(156_999, { auto: false }), at(157_000, { auto: false })]).toEqual(["ok", "error"]);
  });

  const message = fc.oneof(
    fc.string({ maxLength: 400 }).map(user),
    fc.string({ maxLength: 400 }).map(said),
    fc.string({ maxLength: 4_000 }).map(result),
  );
  const gauge = fc.record({
    ratio: fc.double({ min: 1, max: 4, noNaN: true }),
    beside: fc.dictionary(fc.constantFrom(...CONTEXT_PARTS.slice(0, 7)), fc.nat(9_000)),
    reported: fc.option(fc.record({ tokens: fc.nat(300_000), records: fc.nat(12) })),
  });

  test("its parts sum to what is used, and agree with the messages that are shown", () => {
    fc.assert(
      fc.property(gauge, fc.array(message, { maxLength: 12 }), (measured, messages) => {
        const { used, parts, exact } = statOf(seen({ ...UNMEASURED, ...measured }, messages));
        expect(sum(parts)).toBe(used);
        expect(Object.values(parts).every((tokens) => tokens >= 0)).toBe(true);
        if (measured.reported !== null) return;
        expect(exact).toBe(false);
        const whole = sum(measured.beside) + messages.reduce((all, each) => all + messageTokens(each), 0);
        expect(used).toBe(Math.ceil(whole * measured.ratio));
      }),
      { seed: 1401, numRuns: 300 },
    );
  });

  test("counts a cleared result as it is shown", () => {
    const messages = [user("do it"), said(""), result("x".repeat(40_000))];
    const views = { ...noViews(), count: 3 };
    views.stack.push({ put: null, keep: [], clears: [{ n: 3 }], tailFrom: 1 });
    expect(statOf({ ...seen(GAUGE, messages), views }).parts.results).toBeLessThan(100);
  });
});
