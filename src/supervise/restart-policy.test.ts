/**
 * The rules against a model of OTP's supervisor, written from its documentation: a list of children with their state, the
 * times of restarts, one function an exit. What Crux adds (budget, refusal, backoff) is added to the model where it says so.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EXIT, type ExitStatus } from "../abi/process.ts";
import type { Restart, Strategy } from "../abi/supervise.ts";
import type { Sibling } from "./restart-plan.ts";
import { RestartPolicy } from "./restart-policy.ts";

const EXITS = {
  normal: { exit: EXIT.completed, isOrdered: false, isRefused: false },
  limit: { exit: EXIT.maxSteps, isOrdered: false, isRefused: false },
  shutdown: { exit: EXIT.sigterm, isOrdered: true, isRefused: false },
  crash: { exit: { code: 1, reason: "boom", kind: "fault" }, isOrdered: false, isRefused: false },
  signal: { exit: EXIT.sigkill, isOrdered: false, isRefused: false },
  budget: { exit: EXIT.budget, isOrdered: false, isRefused: false },
  refused: { exit: { code: 1, reason: "no", kind: "fault" }, isOrdered: false, isRefused: true },
} as const satisfies Record<string, { exit: ExitStatus; isOrdered: boolean; isRefused: boolean }>;
type Reason = keyof typeof EXITS;

interface Member {
  readonly id: string;
  readonly kind: Restart;
  alive: boolean;
}

interface Effects {
  readonly decision: string;
  readonly terminated: string[];
  readonly started: string[];
  readonly gone: string[];
}

/** supervisor(3): restart types, strategies, maximum restart intensity. */
class Otp {
  readonly members: Member[];
  #restarts: number[] = [];
  readonly #strategy: Strategy;
  readonly #maxR: number;
  readonly #maxT: number;

  constructor(members: Member[], strategy: Strategy, maxR: number, maxT: number) {
    this.members = members;
    this.#strategy = strategy;
    this.#maxR = maxR;
    this.#maxT = maxT;
  }

  exit(id: string, reason: Reason, now: number): Effects {
    const nothing = { terminated: [], started: [], gone: [] };
    const member = this.members.find((one) => one.id === id) as Member;
    member.alive = false;
    // a temporary child is never restarted
    if (member.kind === "temporary") return { decision: "drop", ...nothing };
    // a transient one only if it ends otherwise than normal, shutdown or {shutdown, Term}
    const isNormal =
      reason === "normal" || reason === "limit" || reason === "budget" || reason === "shutdown";
    if (member.kind === "transient" && isNormal) return { decision: "drop", ...nothing };
    // Crux: repeating would only spend, or be refused again
    if (reason === "budget" || reason === "refused") return { decision: "escalate", ...nothing };
    // more than MaxR restarts within the last MaxT: the supervisor gives up
    this.#restarts = [now, ...this.#restarts].filter((then) => now <= then + this.#maxT);
    if (this.#restarts.length > this.#maxR) {
      this.#restarts.shift();
      return { decision: "escalate", ...nothing };
    }
    return this.#restart(member);
  }

  #restart(member: Member): Effects {
    const at = this.members.indexOf(member);
    let others: Member[];
    if (this.#strategy === "one_for_one") others = [];
    else if (this.#strategy === "one_for_all") others = [...this.members];
    else others = this.members.slice(at + 1);
    const terminated: string[] = [];
    const gone: string[] = [];
    const again = new Set([member]);
    for (const other of [...others].reverse()) {
      if (other === member || !other.alive) continue;
      terminated.push(other.id);
      other.alive = false;
      // temporary children are removed when they are shut down
      if (other.kind === "temporary") gone.push(other.id);
      else again.add(other);
    }
    const started: string[] = [];
    for (const one of this.members) {
      if (!again.has(one)) continue;
      one.alive = true;
      started.push(one.id);
    }
    return { decision: "restart", terminated, started, gone };
  }
}

const scenario = fc.record({
  strategy: fc.constantFrom<Strategy>("one_for_one", "one_for_all", "rest_for_one"),
  kinds: fc.array(fc.constantFrom<Restart>("permanent", "transient", "temporary"), {
    minLength: 1,
    maxLength: 6,
  }),
  maxRestarts: fc.nat(4),
  windowMs: fc.constantFrom(1, 100, 1_000),
  exits: fc.array(
    fc.record({
      which: fc.nat(5),
      reason: fc.constantFrom(...(Object.keys(EXITS) as Reason[])),
      afterMs: fc.constantFrom(0, 1, 50, 99, 100, 101, 500, 1_000, 1_001),
    }),
    { maxLength: 15 },
  ),
});

const BACKOFF = { initialMs: 1, factor: 2, maxMs: 10, jitter: 0 };

describe("RestartPolicy", () => {
  test("decides as OTP does: 3 strategies, 3 kinds, random exits and times", () => {
    let decided = { restart: 0, drop: 0, escalate: 0 };
    fc.assert(
      fc.property(scenario, ({ strategy, kinds, maxRestarts, windowMs, exits }) => {
        const members = kinds.map((kind, at) => ({ id: `c${at}`, kind, alive: true }));
        const otp = new Otp(members, strategy, maxRestarts, windowMs);
        const policy = new RestartPolicy({
          strategy,
          intensity: { maxRestarts, windowMs },
          backoff: BACKOFF,
        });
        const up = new Map(kinds.map((_kind, at) => [`c${at}`, true]));
        let now = 0;
        for (const { which, reason, afterMs } of exits) {
          now += afterMs;
          const id = `c${which % kinds.length}`;
          if (up.get(id) !== true) continue;
          const siblings: Sibling[] = kinds.map((restart, at) => ({
            id: `c${at}`,
            restart,
            isUp: up.get(`c${at}`) === true && `c${at}` !== id,
          }));
          const child = siblings[which % kinds.length] as Sibling;
          const left = { ...EXITS[reason], child, isStopping: false, ranMs: afterMs, row: 0 };
          const judged = policy.judge(left, { siblings, mono: now, random: 0.5 });
          const expected = otp.exit(id, reason, now);
          const plan = judged.decision === "restart" ? judged.plan : { stop: [], start: [], drop: [] };
          expect({
            decision: judged.decision,
            terminated: plan.stop,
            started: plan.start,
            gone: [...plan.drop].sort(),
          }).toEqual({ ...expected, gone: expected.gone.sort() });
          decided = { ...decided, [judged.decision]: decided[judged.decision as "drop"] + 1 };
          if (judged.decision === "escalate") return;
          up.set(id, judged.decision === "restart");
          for (const gone of plan.drop) up.set(gone, false);
          expect(members.filter(({ alive }) => alive).map((one) => one.id)).toEqual(
            [...up].filter(([, isUp]) => isUp).map(([one]) => one),
          );
        }
      }),
      { numRuns: 10_000 },
    );
    // the scenarios reach what they are about
    expect(Math.min(decided.restart, decided.drop, decided.escalate)).toBeGreaterThan(500);
  });

  test("a child that dies at once waits 1, 2, 4, 8, 16 s; then it is given up", () => {
    const policy = new RestartPolicy({
      strategy: "one_for_one",
      intensity: { maxRestarts: 5, windowMs: 60_000 },
      backoff: { initialMs: 1_000, factor: 2, maxMs: 30_000, jitter: 0.1 },
    });
    const child = { id: "c", restart: "permanent", isUp: false } as const;
    const seen: (number | string)[] = [];
    for (let now = 50, row = 0; seen.at(-1) !== "escalate"; ) {
      const left = { ...EXITS.crash, child, isStopping: false, ranMs: 50, row };
      const judged = policy.judge(left, { siblings: [child], mono: now, random: 0.5 });
      if (judged.decision !== "restart") seen.push(judged.decision);
      else {
        seen.push(judged.delayMs);
        row = judged.row;
        now += judged.delayMs + 50;
      }
    }
    expect(seen).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, "escalate"]);
  });

  test("never more restarts within a window than its intensity", () => {
    const gaps = fc.array(fc.nat(300), { maxLength: 60 });
    fc.assert(
      fc.property(
        gaps,
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 1, max: 500 }),
        (all, max, windowMs) => {
          const intensity = { maxRestarts: max, windowMs };
          const policy = new RestartPolicy({ strategy: "one_for_one", intensity, backoff: BACKOFF });
          const child = { id: "c", restart: "permanent", isUp: false } as const;
          const restarts: number[] = [];
          let now = 0;
          for (const gap of all) {
            now += gap;
            const left = { ...EXITS.crash, child, isStopping: false, ranMs: gap, row: 0 };
            const judged = policy.judge(left, { siblings: [child], mono: now, random: 0 });
            const within = restarts.filter((time) => now - time <= windowMs).length;
            expect(judged.decision).toBe(within < max ? "restart" : "escalate");
            if (judged.decision === "restart") restarts.push(now);
          }
        },
      ),
      { numRuns: 10_000 },
    );
  });
});
