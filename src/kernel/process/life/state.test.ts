import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asPid } from "../../../abi/ids.ts";
import { PROCESS_STATES, type ProcessState } from "../../../abi/process.ts";
import { transition } from "./state.ts";

const ALLOWED = new Set(["created running", "running zombie", "zombie dead"]);
const PAIRS = PROCESS_STATES.flatMap((from) => PROCESS_STATES.map((to) => [from, to] as const));

describe("transition()", () => {
  test.each(PAIRS)("%s to %s passes or is INTERNAL", (from, to) => {
    const go = (): ProcessState => transition(from, to, { pid: asPid(7), syscall: "Exit" });
    if (ALLOWED.has(`${from} ${to}`)) return expect(go()).toBe(to);
    expect(go).toThrow(
      expect.objectContaining({ code: "INTERNAL", message: `illegal transition: ${from} → ${to}`, pid: 7 }),
    );
  });

  test("any order of wishes walks the one path", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PROCESS_STATES)), (wishes) => {
        let state: ProcessState = "created";
        let expected = 0;
        for (const wish of wishes) {
          if (PROCESS_STATES.indexOf(wish) === expected + 1) expected++;
          try {
            state = transition(state, wish, { pid: asPid(1), syscall: "Exit" });
          } catch (error) {
            expect(error).toMatchObject({ code: "INTERNAL" });
          }
          expect(state).toBe(PROCESS_STATES[expected]);
        }
      }),
      { numRuns: 10_000 },
    );
  });
});
