import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LANE_CLASSES, type LaneClass, type LaneLimits } from "../../abi/lanes.ts";
import { decide } from "./decide.ts";
import { type Granted, Lane } from "./lane.ts";
import type { Ticket } from "./ticket.ts";

let order = 0;

function ticket(more: Partial<Ticket> = {}): Ticket {
  const { process = 1, session = `s${process}` } = more;
  const claim = { session, process, weight: 10, sessionWeight: 10 };
  return { ...claim, class: "background", sinceMs: 0, order: order++, input: 100, output: 100, ...more };
}

/** A lane without its promises: who waits, and what is in progress. */
class Bench {
  readonly queue = new Set<Ticket>();
  readonly running = new Set<Granted>();
  readonly lane: Lane;
  nowMs = 0;

  constructor(limits: LaneLimits = { maxConcurrent: 1 }) {
    this.lane = new Lane(limits, 0);
  }

  add(...tickets: readonly Ticket[]): void {
    for (const each of tickets) this.queue.add(each);
  }

  /** What is granted now; undefined: nothing is. */
  next(): Granted | undefined {
    const decision = decide(this.lane, this.queue, this.nowMs);
    if (decision.kind !== "grant") return undefined;
    this.queue.delete(decision.ticket);
    const granted = this.lane.grant(decision.ticket, decision.isInTurn, this.nowMs);
    this.running.add(granted);
    return granted;
  }

  end(granted: Granted, used = { input: granted.ticket.input, output: granted.ticket.output }): void {
    this.lane.ended(granted, used, this.nowMs);
    this.lane.free(granted);
    this.running.delete(granted);
  }

  refuse(granted: Granted, retryAfterMs?: number): void {
    this.lane.refused(granted, retryAfterMs, this.nowMs);
    this.lane.free(granted);
    this.running.delete(granted);
  }

  /** Grants and ends one; its ticket. */
  turn(): Ticket | undefined {
    const granted = this.next();
    if (granted !== undefined) this.end(granted);
    return granted?.ticket;
  }
}

const someClass = fc.constantFrom(...LANE_CLASSES);
const someTicket = fc.record({
  class: someClass,
  process: fc.nat(7),
  weight: fc.integer({ min: 1, max: 100 }),
  sessionWeight: fc.integer({ min: 1, max: 100 }),
  input: fc.nat(200_000),
  output: fc.nat(60_000),
});

describe("decide()", () => {
  it("grants while there are slots, and is idle without tickets or slots", () => {
    const bench = new Bench({ maxConcurrent: 2 });
    expect(decide(bench.lane, bench.queue, 0).kind).toBe("idle");
    bench.add(ticket(), ticket(), ticket());
    const first = bench.next() as Granted;
    expect(bench.next()).toBeDefined();
    expect(bench.next()).toBeUndefined();
    bench.end(first);
    expect(bench.next()).toBeDefined();
  });

  it("lets an interactive request overtake 1,000 background ones within one slot", () => {
    fc.assert(
      fc.property(fc.nat(20), (before) => {
        const bench = new Bench();
        for (let process = 10; process < 1_010; process++) bench.add(ticket({ process }));
        for (let turn = 0; turn < before; turn++) bench.add(bench.turn() as Ticket);
        const mine = ticket({ class: "interactive", process: 5 });
        bench.add(mine);
        expect(bench.turn()).toBe(mine);
      }),
      { numRuns: 50 },
    );
  });

  it("is strict by class, but gives every 8th grant to the longest waiting of the classes passed over", () => {
    const bench = new Bench();
    const low = [ticket({ process: 2 }), ticket({ process: 3, class: "foreground", sinceMs: 1 })];
    bench.add(...low);
    const got: LaneClass[] = [];
    for (let turn = 0; turn < 16; turn++) {
      bench.add(ticket({ class: "interactive", process: 1, sinceMs: 2 }));
      got.push((bench.turn() as Ticket).class);
    }
    const seven = Array<LaneClass>(7).fill("interactive");
    expect(got).toEqual([...seven, "background", ...seven, "foreground"]);
  });

  it("puts a ticket before the other classes after 60 s, and never before what a user waits for", () => {
    const bench = new Bench();
    const old = ticket({ process: 2, sinceMs: 0 });
    const mine = ticket({ class: "interactive", process: 1, sinceMs: 59_000 });
    bench.nowMs = 60_000;
    bench.add(ticket({ class: "foreground", process: 3, sinceMs: 59_000 }), old, mine);
    expect([bench.turn(), bench.turn()]).toEqual([mine, old]);
  });

  it("lets each step of a user's session overtake within a slot, however many others have starved", () => {
    const someAgents = fc.record({
      agents: fc.integer({ min: 20, max: 150 }),
      steps: fc.integer({ min: 1, max: 12 }),
      name: fc.constantFrom<LaneClass>("foreground", "background"),
      slotMs: fc.integer({ min: 500, max: 5_000 }),
      sharesSession: fc.boolean(),
    });
    fc.assert(
      fc.property(someAgents, ({ agents, steps, name, slotMs, sharesSession }) => {
        const bench = new Bench();
        const ask = (process: number): void =>
          bench.add(
            ticket({
              process,
              class: name,
              sinceMs: bench.nowMs,
              ...(sharesSession ? { session: "s1" } : {}),
            }),
          );
        for (let process = 10; process < 10 + agents; process++) ask(process);
        // all have asked again and again, and most of them wait for more than a minute by now
        const others = (slots: number): void => {
          for (let slot = 0; slot < slots; slot++) {
            bench.nowMs += slotMs;
            ask((bench.turn() as Ticket).process);
          }
        };
        others(Math.ceil(70_000 / slotMs) + agents);
        for (let step = 0; step < steps; step++) {
          others(3);
          const mine = ticket({ class: "interactive", process: 1, session: "s1", sinceMs: bench.nowMs });
          bench.add(mine);
          let slots = 0;
          for (let got: Ticket | undefined; got !== mine; slots++) {
            bench.nowMs += slotMs;
            got = bench.turn() as Ticket;
            if (got !== mine) ask(got.process);
          }
          // one of eight grants is for who was passed over
          expect(slots).toBeLessThanOrEqual(2);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("grants each of Q tickets within 8 × Q grants, whatever classes, weights, sizes and arrivals", () => {
    const arrivals = fc.array(fc.array(someTicket, { maxLength: 3 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(arrivals, (waves) => {
        const bench = new Bench();
        const waited = new Map<Ticket, { grants: number; most: number }>();
        const turn = (): void => {
          bench.nowMs++;
          const got = bench.turn() as Ticket;
          const { grants, most } = waited.get(got) as { grants: number; most: number };
          expect(grants + 1).toBeLessThanOrEqual(8 * most);
          waited.delete(got);
          for (const each of waited.values()) each.grants++;
        };
        for (const wave of waves) {
          for (const more of wave) {
            const each = ticket({ ...more, session: `s${more.process % 3}`, sinceMs: bench.nowMs });
            bench.add(each);
            waited.set(each, { grants: 0, most: 0 });
          }
          for (const each of waited.values()) each.most = Math.max(each.most, waited.size);
          if (waited.size > 0) turn();
        }
        while (waited.size > 0) turn();
      }),
      { numRuns: 300 },
    );
  });

  it("keeps that bound for who has used much, and for a low class, while others ask again and again", () => {
    fc.assert(
      fc.property(someClass, fc.boolean(), fc.nat(20), (name, isLarge, before) => {
        const bench = new Bench();
        bench.add(ticket({ process: 1, class: name, input: isLarge ? 10_000_000 : 1 }));
        bench.turn();
        const again = (): void =>
          bench.add(ticket({ process: 2, class: "interactive", input: 1, sinceMs: ++bench.nowMs / 1e3 }));
        for (let turn = 0; turn < before; turn++) {
          again();
          bench.turn();
        }
        const mine = ticket({ process: 1, class: name, sinceMs: bench.nowMs / 1e3 });
        bench.add(mine);
        let grants = 0;
        do {
          again();
          grants++;
        } while (bench.turn() !== mine);
        expect(grants).toBeLessThanOrEqual(8 * 2);
      }),
    );
  });

  it("never grants more than the bucket and its burst", () => {
    const steps = fc.array(fc.record({ ms: fc.nat(4_000), input: fc.nat(2_000) }), { maxLength: 80 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 6, max: 600 }), (all, perMinute) => {
        const bench = new Bench({ maxConcurrent: 64, perMinute: { requests: perMinute } });
        const at: number[] = [];
        for (const { ms, input } of all) {
          bench.nowMs += ms;
          bench.add(ticket({ input }));
          while (bench.next() !== undefined) at.push(bench.nowMs);
          for (const granted of bench.running) bench.end(granted);
        }
        const burst = Math.max(1, perMinute / 6);
        at.forEach((from, first) => {
          const inWindow = at
            .slice(first)
            .map((to, n) => n + 1 <= burst + ((to - from) * perMinute) / 60_000 + 1e-6);
          expect(inWindow.every(Boolean)).toBe(true);
        });
      }),
    );
  });

  it("lets a request pass that is larger than the bucket, then makes up for it", () => {
    const bench = new Bench({ maxConcurrent: 9, perMinute: { input: 600 } });
    bench.add(ticket({ input: 700 }), ticket({ input: 100 }));
    expect(bench.next()).toBeDefined();
    expect(decide(bench.lane, bench.queue, 0)).toMatchObject({ kind: "wait", untilMs: 70_000 });
  });

  it("corrects the buckets when the real use is known, and learns what to expect", () => {
    const bench = new Bench({ maxConcurrent: 9, perMinute: { input: 60_000, output: 6_000 } });
    bench.add(ticket({ input: 10_000, output: 900 }));
    bench.end(bench.next() as Granted, { input: 1_000, output: 100 });
    expect(bench.lane.levels(0)).toMatchObject({ input: { level: 9_000 }, output: { level: 900 } });
    bench.add(ticket({ input: 20_000, output: 900, process: 2 }));
    expect((bench.next() as Granted).charged).toEqual({
      requests: 1,
      input: 2_000,
      output: 100,
      tokens: 2_100,
    });
  });
});

describe("VirtualTime", () => {
  it("shares by weight between sessions, and between processes of one session", () => {
    const bench = new Bench();
    const again = (each: Ticket): Ticket => ticket({ ...each, order: order++, sinceMs: ++bench.nowMs / 1e3 });
    bench.add(
      ticket({ session: "a", process: 1, sessionWeight: 30 }),
      ticket({ session: "b", process: 2 }),
      ticket({ session: "b", process: 3 }),
    );
    const count = new Map<number, number>();
    for (let turn = 0; turn < 800; turn++) {
      const got = bench.turn() as Ticket;
      count.set(got.process, (count.get(got.process) ?? 0) + 1);
      bench.add(again(got));
    }
    // the oldest of each seven grants moves the shares a little, and is made up for by virtual time
    expect([1, 2, 3].map((process) => Math.round((count.get(process) ?? 0) / 20))).toEqual([30, 5, 5]);
  });

  it("gives nobody credit for the time in which nothing was wanted", () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 400 }), (turns) => {
        const bench = new Bench();
        bench.add(ticket({ process: 1 }), ticket({ process: 9 }));
        bench.turn();
        bench.turn();
        for (let turn = 0; turn < turns; turn++) {
          bench.add(ticket({ process: 1 }), ticket({ process: 2 }));
          bench.turn();
          bench.turn();
        }
        const got: number[] = [];
        for (let turn = 0; turn < 12; turn++) {
          for (const process of [1, 2, 9])
            if (![...bench.queue].some((each) => each.process === process)) bench.add(ticket({ process }));
          got.push((bench.turn() as Ticket).process);
        }
        const mine = got.filter((process) => process === 9).length;
        expect(mine).toBeLessThanOrEqual(6);
      }),
      { numRuns: 30 },
    );
  });
});

describe("a closed lane", () => {
  it("asks the server again within an hour, whatever delay it names", () => {
    const bench = new Bench({ maxConcurrent: 4 });
    bench.add(ticket(), ticket());
    bench.refuse(bench.next() as Granted, 31_536_000_000);
    expect(bench.lane.closed?.untilMs).toBe(3_600_000);
  });

  it("stays closed for the server's time, then lets one attempt probe, and opens with its answer", () => {
    const bench = new Bench({ maxConcurrent: 4 });
    bench.add(ticket(), ticket(), ticket());
    bench.refuse(bench.next() as Granted, 7_000);
    bench.nowMs = 6_999;
    expect(decide(bench.lane, bench.queue, bench.nowMs)).toEqual({ kind: "wait", untilMs: 7_000 });
    bench.nowMs = 7_000;
    const probe = bench.next() as Granted;
    expect(bench.next()).toBeUndefined();
    bench.end(probe);
    expect(bench.lane.closed).toBeUndefined();
    expect(bench.next()).toBeDefined();
  });

  it("doubles its wait from 500 ms to 32 s with each refused probe, and only then", () => {
    const bench = new Bench({ maxConcurrent: 4 });
    bench.add(ticket(), ticket());
    const [a, b] = [bench.next() as Granted, bench.next() as Granted];
    bench.refuse(a);
    bench.refuse(b);
    const waits: number[] = [];
    for (let probe = 0; probe < 8; probe++) {
      const until = bench.lane.closed?.untilMs ?? 0;
      waits.push(until - bench.nowMs);
      bench.nowMs = until;
      bench.add(ticket());
      bench.refuse(bench.next() as Granted);
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000]);
  });

  it("lets the next one probe when the probe is given up, or its process dies", () => {
    const bench = new Bench();
    bench.add(ticket(), ticket());
    bench.refuse(bench.next() as Granted, 0);
    const probe = bench.next() as Granted;
    expect(bench.next()).toBeUndefined();
    bench.lane.free(probe);
    expect(bench.next()).toBeUndefined();
    bench.add(ticket());
    expect(bench.next()).toBeDefined();
  });

  it("halves the slots once for refusals that came together, at least to 1, and regains them by tens", () => {
    const bench = new Bench({ maxConcurrent: 8 });
    bench.add(...Array.from({ length: 8 }, () => ticket()));
    const all = Array.from({ length: 8 }, () => bench.next() as Granted);
    for (const each of all) bench.refuse(each, 0);
    expect(bench.lane.slots).toBe(4);
    const fill = (): void => {
      while (bench.running.size < bench.lane.slots) {
        bench.add(ticket());
        if (bench.next() === undefined) return;
      }
    };
    for (let answers = 0; answers < 11; answers++) {
      fill();
      bench.end([...bench.running][0] as Granted);
    }
    expect(bench.lane.slots).toBe(5);
  });

  it("gives back what a refused attempt was charged", () => {
    const bench = new Bench({ maxConcurrent: 4, perMinute: { requests: 60, input: 6_000 } });
    const before = bench.lane.levels(0);
    bench.add(ticket());
    bench.refuse(bench.next() as Granted, 0);
    expect(bench.lane.levels(0)).toEqual(before);
    expect(bench.lane.slots).toBe(4);
  });

  it("takes what a late answer says for what it was when the attempt came in, and once", () => {
    const bench = new Bench({ maxConcurrent: 9, perMinute: { requests: 600 } });
    const all = [1, 2, 3].map(() => {
      bench.add(ticket());
      return bench.next() as Granted;
    });
    // the server's bucket holds 20 and had as much left as it takes in the meantime; ours holds 100
    bench.nowMs = 500;
    for (const [at, granted] of all.entries())
      bench.lane.readings(granted, { requests: { limit: 600, remaining: 19 - at } }, 500);
    expect(bench.lane.levels(500).requests?.level).toBe(20);
    bench.nowMs = 60_000;
    expect(bench.lane.levels(60_000).requests?.level).toBe(20);
  });

  it("does not take small differences for a smaller bucket of the server", () => {
    const bench = new Bench({ maxConcurrent: 9, perMinute: { requests: 600 } });
    for (let turn = 1; turn <= 50; turn++) {
      bench.nowMs = turn * 60_000;
      bench.add(ticket({ sinceMs: bench.nowMs }));
      const granted = bench.next() as Granted;
      bench.lane.readings(granted, { requests: { remaining: 100 - turn } }, bench.nowMs);
      bench.end(granted);
    }
    expect(bench.lane.levels(bench.nowMs + 60_000).requests?.level).toBe(100);
  });

  it("follows what the server says of its limits at once", () => {
    const bench = new Bench({ maxConcurrent: 4, perMinute: { input: 60_000 } });
    const { lane } = bench;
    bench.add(ticket());
    lane.readings(
      bench.next() as Granted,
      { requests: { limit: 60, remaining: 3 }, input: { limit: 90_000, remaining: 50 } },
      0,
    );
    expect(lane.levels(0)).toEqual({
      requests: { level: 3, perMinute: 60 },
      input: { level: 50, perMinute: 60_000 },
    });
  });
});
