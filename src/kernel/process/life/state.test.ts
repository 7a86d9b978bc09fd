import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { asPid, PID_KERNEL } from "../../../abi/ids.ts";
import { EXIT, PROCESS_STATES, type ProcessState } from "../../../abi/process.ts";
import { testKernel } from "../../testing/test-kernel.ts";
import { Process, type ProcessSeed } from "../process.ts";
import { transition } from "./state.ts";

const ALLOWED = new Set(["created running", "running zombie", "zombie dead"]);
const PAIRS = PROCESS_STATES.flatMap((from) => PROCESS_STATES.map((to) => [from, to] as const));

describe("transition()", () => {
  test.each(PAIRS)("%s to %s passes or is INTERNAL", (from, to) => {
    const go = (): ProcessState => transition(from, to, asPid(7), "Exit");
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
            state = transition(state, wish, asPid(1), "Exit");
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

describe("start(), terminate() and reap()", () => {
  const CALLS = ["start", "terminate", "reap", "pause", "resume"] as const;
  const LEADS_TO: Readonly<Record<string, ProcessState>> = {
    start: "running",
    terminate: "zombie",
    reap: "dead",
  };
  const EXITS = [EXIT.completed, EXIT.maxSteps, EXIT.sigterm, EXIT.sigkill];
  let seed: ProcessSeed;
  beforeAll(() => {
    seed = testKernel().kernel.root.seed;
  });

  function call(proc: Process, name: (typeof CALLS)[number], mono: number): void {
    if (name === "terminate") proc.terminate(EXITS[mono % EXITS.length] ?? EXIT.completed, mono);
    else proc[name](mono);
  }

  /** What a call that is refused must leave as it is. */
  function seen({ state, exit, paused, activity }: Process) {
    return { state, exit, paused: paused !== null, activity };
  }

  test("in any order: the one that is next passes, all others are INTERNAL and change nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...CALLS), { maxLength: 20 }), (calls) => {
        const proc = new Process(seed, PID_KERNEL);
        proc.activity = "thinking";
        let [at, first]: [number, number | null] = [0, null];
        for (const [mono, name] of calls.entries()) {
          const before = seen(proc);
          const to = LEADS_TO[name];
          if (to !== undefined && PROCESS_STATES[at + 1] !== to) {
            const message = `illegal transition: ${before.state} → ${to}`;
            const refused = expect.objectContaining({ code: "INTERNAL", message, pid: PID_KERNEL });
            expect(() => call(proc, name, mono)).toThrow(refused);
            expect(seen(proc)).toEqual(before);
            continue;
          }
          call(proc, name, mono);
          if (to !== undefined) at++;
          if (to === "zombie") first = mono;
        }
        expect(proc.state).toBe(PROCESS_STATES[at]);
        expect(proc.isLive).toBe(at < 2);
        expect(proc.exit).toBe(first === null ? null : EXITS[first % EXITS.length]);
        expect(proc.info(99).activity === null).toBe(at >= 2);
      }),
      { numRuns: 10_000 },
    );
  });
});
