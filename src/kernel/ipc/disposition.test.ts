import { describe, expect, test } from "vitest";
import { PROCESS_STATES, type Signal } from "../../abi/process.ts";
import { dispositionOf, type OwnAction } from "./disposition.ts";

const ALL: readonly Signal[] = [1, 2, 3, 4, 5];
const NONE = new Map<Signal, OwnAction>();

describe("dispositionOf()", () => {
  describe.each(PROCESS_STATES)("of a %s process", (state) => {
    const hasEnded = state === "zombie" || state === "dead";

    test.each(ALL)("%i by default", (signal) => {
      expect(dispositionOf(state, { blocked: new Set(), handlers: NONE }, signal)).toBe(
        hasEnded ? "ignored" : "default",
      );
    });

    test.each(ALL)("%i with a handler", (signal) => {
      const expected = signal === 2 ? "default" : "handler";
      const handled = new Map([[signal, () => {}]]);
      expect(dispositionOf(state, { blocked: new Set(), handlers: handled }, signal)).toBe(
        hasEnded ? "ignored" : expected,
      );
    });

    test.each(ALL)("%i, blocked", (signal) => {
      const expected = signal === 2 ? "default" : "pending";
      expect(dispositionOf(state, { blocked: new Set([signal]), handlers: NONE }, signal)).toBe(
        hasEnded ? "ignored" : expected,
      );
    });

    test.each(ALL)("%i, ignored by the process", (signal) => {
      const expected = signal === 2 ? "default" : "ignored";
      const ignoring = new Map<Signal, OwnAction>([[signal, "ignore"]]);
      expect(dispositionOf(state, { blocked: new Set(), handlers: ignoring }, signal)).toBe(
        hasEnded ? "ignored" : expected,
      );
    });
  });

  test("every mask and every set of actions: the first rule that holds, and nothing of other signals", () => {
    let cases = 0;
    for (const state of PROCESS_STATES)
      for (let mask = 0; mask < 32; mask++)
        for (let code = 0; code < 3 ** 5; code++) {
          const blocked = new Set(ALL.filter((n) => (mask >> (n - 1)) % 2 === 1));
          const kinds = ALL.map(
            (n) => (["default", "ignore", "own"] as const)[Math.floor(code / 3 ** (n - 1)) % 3],
          );
          const actions = new Map<Signal, OwnAction>();
          for (const n of ALL) {
            if (kinds[n - 1] === "ignore") actions.set(n, "ignore");
            if (kinds[n - 1] === "own") actions.set(n, () => {});
          }
          for (const signal of ALL) {
            const rules = [
              [PROCESS_STATES.indexOf(state) > 1, "ignored"],
              [signal === 2, "default"],
              [blocked.has(signal), "pending"],
              [kinds[signal - 1] === "own", "handler"],
              [kinds[signal - 1] === "ignore", "ignored"],
              [true, "default"],
            ] as const;
            const expected = rules.find(([holds]) => holds)?.[1];
            const found = dispositionOf(state, { blocked, handlers: actions }, signal);
            // expect() for each of them would take longer than all the rest
            if (found !== expected) expect({ state, mask, code, signal, found }).toBe(expected);
            cases++;
          }
        }
    expect(cases).toBe(4 * 32 * 243 * 5);
  });
});
