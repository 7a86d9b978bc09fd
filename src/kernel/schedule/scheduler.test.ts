import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LaneLimits } from "../../abi/lanes.ts";
import { LIMITS } from "../limits.ts";
import { settle, VirtualClock } from "../testing/virtual-clock.ts";
import { type Applicant, type LaneRefusal, Scheduler, Slot } from "./scheduler.ts";

const limits: LaneLimits = { maxConcurrent: 2 };
const asked = { lane: "/dev/llm/x m", input: 100, output: 100, limits };
const refusal = new Error("429");

class Rig {
  readonly clock = new VirtualClock();
  readonly scheduler = new Scheduler(this.clock);
  readonly slots: Slot[] = [];
  readonly refusals: LaneRefusal[] = [];
  readonly #deaths = new Map<number, AbortController>();

  #death(process: number): AbortController {
    const death = this.#deaths.get(process) ?? new AbortController();
    this.#deaths.set(process, death);
    return death;
  }

  who(process: number, more: Partial<Applicant> = {}): Applicant {
    const death = this.#death(process);
    const claim = { session: `s${process}`, process, weight: 10, sessionWeight: 10 };
    return { ...claim, class: "foreground", ended: death.signal, owner: death, ...more };
  }

  /** Asks for a slot; the returned function gives up. */
  ask(process: number, more: Partial<Applicant> = {}): () => void {
    const call = new AbortController();
    const who = this.who(process, more);
    who.ended.addEventListener("abort", () => call.abort(), { once: true });
    this.scheduler.take(asked, who, call.signal).then(
      (slot) => (slot instanceof Slot ? this.slots.push(slot) : this.refusals.push(slot)),
      () => {},
    );
    return () => call.abort();
  }

  kill(process: number): void {
    this.#death(process).abort();
    this.#deaths.delete(process);
  }

  get lane() {
    return this.scheduler.view("/dev/llm/x")[0]?.lane;
  }

  get waiting() {
    return this.scheduler.view("/dev/llm/x")[0]?.waiting ?? [];
  }
}

describe("Scheduler", () => {
  it("loses no slot, on any order of grant, end, refusal, cancel and death", async () => {
    const move = fc.record({
      do: fc.constantFrom("ask", "ask", "ask", "end", "return", "refuse", "cancel", "kill", "pass"),
      at: fc.nat(5),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
        const rig = new Rig();
        const given: (() => void)[] = [];
        for (const { do: what, at } of moves) {
          const slot = rig.slots.at(at);
          if (what === "ask") given.push(rig.ask(at));
          else if (what === "end") slot?.ended({ input: 90, output: 10 });
          else if (what === "return") slot?.[Symbol.dispose]();
          else if (what === "refuse") slot?.refused({ retryAfterMs: at * 100, error: refusal });
          else if (what === "cancel") given.at(at)?.();
          else if (what === "kill") rig.kill(at);
          else await rig.clock.advance(at * 200);
          await settle(1);
          expect(rig.lane?.used ?? 0).toBeLessThanOrEqual(2);
        }
        // whatever waits is granted once those who hold slots let go
        for (let round = 0; round < 60; round++) {
          for (const slot of rig.slots) slot[Symbol.dispose]();
          await rig.clock.advance(1_000);
        }
        expect(rig.lane?.used ?? 0).toBe(0);
        expect(rig.waiting).toEqual([]);
        expect(rig.clock.pending).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it("frees the slots of 10,000 killed processes", async () => {
    const rig = new Rig();
    for (let process = 0; process < 10_000; process++) rig.ask(process);
    await settle(1);
    for (let process = 9_999; process >= 0; process--) rig.kill(process);
    await settle(1);
    expect(rig.lane).toMatchObject({ used: 0, waiting: 0 });
    expect(rig.clock.pending).toBe(0);
  });

  it("makes no call for 7 s after a refusal that says so, then one", async () => {
    const rig = new Rig();
    for (const process of [1, 2, 3, 4]) rig.ask(process);
    await settle(1);
    rig.slots[1]?.ended({ input: 1, output: 1 });
    await settle(1);
    expect(rig.slots).toHaveLength(3);
    expect(rig.slots[0]?.refused({ retryAfterMs: 7_000, error: refusal })).toBe(7_000);
    for (const slot of rig.slots) slot[Symbol.dispose]();
    await rig.clock.advance(6_999);
    expect(rig.slots).toHaveLength(3);
    await rig.clock.advance(1);
    expect(rig.slots).toHaveLength(4);
    expect(rig.lane).toMatchObject({ closedForMs: 0, used: 1 });
  });

  it("gives a refused attempt its place back", async () => {
    const rig = new Rig();
    rig.ask(1);
    rig.ask(2);
    await settle(1);
    const [first, second] = rig.slots as [Slot, Slot];
    await rig.clock.advance(10);
    rig.ask(3);
    first.refused({ retryAfterMs: 100, error: refusal });
    first[Symbol.dispose]();
    second[Symbol.dispose]();
    await settle(1);
    rig.ask(1);
    await settle(1);
    expect(rig.waiting.map(({ pid, waitedMs }) => [pid, waitedMs])).toEqual([
      [1, 10],
      [3, 0],
    ]);
  });

  it("does not let anybody wait in a lane that is closed for too long", async () => {
    const rig = new Rig();
    for (const process of [1, 2, 3]) rig.ask(process);
    await settle(1);
    rig.slots[0]?.refused({ retryAfterMs: LIMITS.laneClosedMs + 1_000, error: refusal });
    rig.slots[0]?.[Symbol.dispose]();
    rig.ask(4);
    await settle(1);
    expect(rig.refusals).toEqual([
      { kind: "closed", error: refusal },
      { kind: "closed", error: refusal },
    ]);
  });

  it("ends all waits at once when the server refuses the account, and lets the next one try", async () => {
    const rig = new Rig();
    for (const process of [1, 2, 3, 4, 5]) rig.ask(process);
    await settle(1);
    rig.slots[0]?.barred(refusal);
    await settle(1);
    expect(rig.refusals).toEqual(Array(3).fill({ kind: "closed", error: refusal }));
    expect(rig.waiting).toEqual([]);
    for (const slot of rig.slots) slot[Symbol.dispose]();
    rig.ask(6);
    await settle(1);
    expect(rig.slots).toHaveLength(3);
    expect([rig.lane?.used, rig.clock.pending]).toEqual([1, 0]);
  });

  it("follows a class that changes while it waits", async () => {
    const rig = new Rig();
    for (const process of [1, 2, 3]) rig.ask(process);
    let mine: Applicant["class"] = "background";
    const who = rig.who(4);
    Object.defineProperty(who, "class", { get: () => mine });
    rig.scheduler.take(asked, who, who.ended).catch(() => {});
    await settle(1);
    expect(rig.waiting.map(({ pid }) => pid)).toEqual([3, 4]);
    mine = "interactive";
    expect(rig.waiting.map(({ pid }) => pid)).toEqual([4, 3]);
  });
});
