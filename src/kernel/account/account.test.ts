import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Amounts, BudgetLimits } from "../../abi/budget.ts";
import { hold } from "../testing/hold.ts";
import { Account, Reservation } from "./account.ts";
import { FLOWS, NOTHING, plus, tokenLimit, tokensOnly } from "./amounts.ts";
import { Window } from "./window.ts";

describe("Account", () => {
  test("reserve() takes what is left if that is at least the least", () => {
    const account = new Account(null, { tokens: 100 });
    expect(hold(account, 70)?.tokens).toBe(70);
    expect(hold(account, 70, 31)).toBeUndefined();
    expect(hold(account, 70, 30)?.tokens).toBe(30);
    expect(hold(account, 1)).toBeUndefined();
    expect(account.view()).toEqual({ limit: 100, used: 0, reserved: 100 });
  });

  test("a refusal above changes nothing below, and a tenth of what is left above is not for children", () => {
    const parent = new Account(null, { tokens: 10 });
    const child = new Account(parent, { tokens: 100 });
    expect(hold(child, 11)).toBeUndefined();
    expect([parent.view().reserved, child.view().reserved]).toEqual([0, 0]);
    expect([parent.remaining(), child.remaining()]).toEqual([10, 9]);
    hold(child, 9)?.settle(9);
    expect([parent.remaining(), child.remaining()]).toEqual([1, 0]);
  });

  test("a call that lacks only what open calls below hold waits for their settlement, and goes before new ones", async () => {
    const [parent, never] = [new Account(null, { tokens: 1_000 }), new AbortController().signal];
    const child = new Account(parent);
    const short = (account: Account, tokens: number) => {
      const got = account.reserve(tokensOnly(tokens), tokensOnly(tokens), 0);
      if (got instanceof Reservation) throw new Error("it can be paid");
      return got;
    };
    const open = [hold(child, 500), hold(child, 300)];
    // it waits for nothing that another has at its limit, nor for what is spent
    expect(child.isHeldBelow(short(child, 400))).toBe(false);
    expect(parent.isHeldBelow(short(parent, 1_001))).toBe(false);
    const wish = short(parent, 300);
    expect(parent.isHeldBelow(wish)).toBe(true);
    const [waits, given] = [parent.nextSettlement(wish, never), new AbortController()];
    const other = parent.nextSettlement({ ...wish }, given.signal);
    expect(hold(child, 1)).toBeUndefined();
    given.abort(new Error("given up"));
    await expect(other).rejects.toThrow("given up");
    open[0]?.settle(100);
    await waits;
    expect(hold(parent, 300)?.tokens).toBe(300);
    expect(hold(child, 1)?.tokens).toBe(1);
    for (const each of [...open, hold(child, 200)]) each?.settle(200);
    expect(parent.isHeldBelow(short(parent, 501))).toBe(false);
  });

  test("one that calls no model leaves all of it to its children", () => {
    const project = new Account(null, { tokens: 10 }, { givesAll: true });
    expect(new Account(project).remaining()).toBe(10);
  });

  test("settle() twice is once; more than reserved is charged, and blocks what follows", () => {
    const account = new Account(null, { tokens: 100 });
    const reservation = hold(account, 50);
    reservation?.settle(120);
    reservation?.settle(120);
    expect(account.view()).toEqual({ limit: 100, used: 120, reserved: 0 });
    expect(account.remaining()).toBe(-20);
    expect(hold(account, 1, 0)).toBeUndefined();
  });

  test("tokenLimit() of 0 and less is none", () => {
    for (const limit of [0, -5]) {
      const account = new Account(null, tokenLimit(limit));
      expect(account.remaining()).toBe(Infinity);
      expect(hold(account, 1e9)?.tokens).toBe(1e9);
    }
  });

  test("reserve() names the nearest account that is short, and by what", () => {
    const top = new Account(null, { microUsd: 1_000 });
    const child = new Account(top, { microUsd: 5_000 });
    const short = child.reserve({ tokens: 1, microUsd: 1_200, steps: 0 }, { ...NOTHING, microUsd: 1_200 }, 0);
    expect(short).toMatchObject({ account: top, unit: "microUsd", limit: 1_000, asked: 1_200 });
    expect(top.reserved).toEqual(NOTHING);
  });

  test("reserve() of a call without a price is refused where there is a limit in money, and only there", () => {
    const wanted = { tokens: 1, microUsd: null, steps: 1 };
    const limited = new Account(new Account(null, { microUsd: 10 }));
    expect(limited.reserve(wanted, NOTHING, 0)).toMatchObject({ isUnpriced: true, unit: "microUsd" });
    expect(new Account(null, { tokens: 10 }).reserve(wanted, NOTHING, 0)).toBeInstanceOf(Reservation);
  });

  test("a window binds all below, and frees what has gone by", () => {
    const top = new Account(null, {}, { givesAll: true });
    top.windows = [new Window({ unit: "tokens", limit: 100, perMs: 60_000 })];
    const child = new Account(top);
    const call = (tokens: number, now: number) =>
      child.reserve({ ...NOTHING, tokens }, { ...NOTHING, tokens }, now);
    const first = call(80, 0);
    if (first instanceof Reservation) first.settle(80, 0);
    expect(call(30, 30_000)).toMatchObject({ account: top, limit: 100, used: 80, asked: 30 });
    expect(top.windows[0]?.resetsAt(30, 0, 30_000)).toBe(61_000);
    expect(call(30, 60_999)).not.toBeInstanceOf(Reservation);
    expect(call(30, 61_000)).toBeInstanceOf(Reservation);
  });
});

describe("Window", () => {
  test("forgets nothing early, whatever the clock does, and is the same when it is read again", () => {
    const spends = fc.array(fc.record({ at: fc.nat(200_000), amount: fc.nat(50) }), { maxLength: 40 });
    fc.assert(
      fc.property(spends, fc.nat(200_000), (all, now) => {
        const window = new Window({ unit: "tokens", limit: 1_000, perMs: 60_000 });
        for (const { at, amount } of all) window.spend(amount, at);
        const latest = Math.max(now, ...all.map(({ at }) => at));
        const within = all
          .filter(({ at }) => at > latest - 60_000)
          .reduce((sum, each) => sum + each.amount, 0);
        expect(window.spent(latest)).toBeGreaterThanOrEqual(within);
        const again = new Window({ unit: "tokens", limit: 1_000, perMs: 60_000 }, window.kept.buckets);
        expect(again.spent(latest)).toBe(window.spent(latest));
        expect(again.spent(latest + 61_001)).toBe(0);
      }),
    );
  });
});

/** Parents come before their children: `parent` is an index modulo what is there. 0: no limit. */
const node = fc.record({
  parent: fc.nat(),
  tokens: fc.nat(50),
  microUsd: fc.nat(500),
  givesAll: fc.boolean(),
});
const tree = fc.array(node, { minLength: 1, maxLength: 6 });
const move = fc.record({
  account: fc.nat(),
  tokens: fc.nat(40),
  microUsd: fc.nat(400),
  least: fc.double({ min: 0, max: 1, noNaN: true }),
  /** Settles an open call, with this share of what it was granted; over 1: it cost more than anybody thought. */
  settles: fc.option(fc.record({ which: fc.nat(), share: fc.double({ min: 0, max: 1.5, noNaN: true }) })),
});

interface Open {
  readonly at: number;
  readonly reservation: Reservation;
}

describe("a tree of accounts", () => {
  test("spent and reserved are those of its own calls and its children's; nothing passes a limit by more than it underestimated", () => {
    fc.assert(
      fc.property(tree, fc.array(move, { maxLength: 40, size: "max" }), (nodes, moves) => {
        const accounts: Account[] = [];
        const parents: number[] = [];
        for (const { parent, tokens, microUsd, givesAll } of nodes) {
          const above = accounts.length === 0 ? -1 : parent % accounts.length;
          parents.push(above);
          accounts.push(new Account(accounts[above] ?? null, limitsFrom({ tokens, microUsd }), { givesAll }));
        }
        const own: Amounts[] = accounts.map(() => NOTHING);
        const over: Amounts[] = accounts.map(() => NOTHING);
        const open: Open[] = [];
        const isBelow = (at: number, top: number): boolean =>
          at === top || (at >= 0 && isBelow(parents[at] ?? -1, top));
        const sum = (of: readonly Amounts[], top: number): Amounts =>
          of.filter((_, at) => isBelow(at, top)).reduce(plus, NOTHING);
        const check = (): void => {
          const held = (at: number): Amounts =>
            open
              .filter((each) => isBelow(each.at, at))
              .reduce((all, each) => plus(all, each.reservation.amounts), NOTHING);
          expect(accounts.map(({ spent, reserved }) => [spent, reserved])).toEqual(
            accounts.map((_, at) => [sum(own, at), held(at)]),
          );
          for (const [at, { limits, spent, reserved }] of accounts.entries()) {
            const beyond = sum(over, at);
            const isWithin = FLOWS.every(
              (unit) => spent[unit] + reserved[unit] <= (limits[unit] ?? Infinity) + beyond[unit],
            );
            if (!isWithin) expect({ limits, spent, reserved }).toBe("within its limits");
          }
        };
        const settle = ({ at, reservation }: Open, share: number): void => {
          const { amounts } = reservation;
          const scaled = (n: number): number => Math.floor(n * share);
          const used = { tokens: scaled(amounts.tokens), microUsd: scaled(amounts.microUsd), steps: 1 };
          reservation.settle(used);
          own[at] = plus(own[at] ?? NOTHING, used);
          over[at] = plus(over[at] ?? NOTHING, {
            tokens: Math.max(0, used.tokens - amounts.tokens),
            microUsd: Math.max(0, used.microUsd - amounts.microUsd),
            steps: 1,
          });
        };
        for (const { account, tokens, microUsd, least, settles } of moves) {
          const at = account % accounts.length;
          if (settles !== null && open.length > 0) {
            const [call] = open.splice(settles.which % open.length, 1);
            if (call !== undefined) settle(call, settles.share);
          } else {
            const wanted = { tokens, microUsd, steps: 1 };
            const leastOf = {
              tokens: Math.floor(tokens * least),
              microUsd: Math.floor(microUsd * least),
              steps: 1,
            };
            const got = accounts[at]?.reserve(wanted, leastOf, 0);
            if (got instanceof Reservation) open.push({ at, reservation: got });
          }
          check();
        }
        for (const call of open.splice(0)) settle(call, 1);
        check();
        for (const { reserved } of accounts) expect(reserved).toEqual(NOTHING);
      }),
      { numRuns: 1_000 },
    );
  });
});

function limitsFrom({ tokens, microUsd }: { tokens: number; microUsd: number }): BudgetLimits {
  return { ...tokenLimit(tokens), ...(microUsd === 0 ? {} : { microUsd }) };
}

test("1,000 random trees with retries: no more passes a limit than was in flight, and a parent's charge is its own with its children's", () => {
  const moves = fc.record({
    account: fc.nat(),
    tokens: fc.integer({ min: 1, max: 40 }),
    retries: fc.nat(3),
    /** An open call ends in place of a new one: with this share of its reservation, and perhaps to be tried again. */
    ends: fc.option(
      fc.record({
        which: fc.nat(),
        share: fc.double({ min: 0, max: 2, noNaN: true }),
        fails: fc.boolean(),
      }),
    ),
  });
  const nodes = fc.array(fc.record({ parent: fc.nat(), tokens: fc.nat(60) }), { minLength: 2, maxLength: 8 });
  interface Attempt {
    readonly account: Account;
    readonly tokens: number;
    readonly retries: number;
    readonly reservation: Reservation;
  }
  fc.assert(
    fc.property(nodes, fc.array(moves, { maxLength: 60, size: "max" }), (given, all) => {
      const accounts: Account[] = [];
      for (const { parent, tokens } of given)
        accounts.push(
          new Account(accounts[parent % Math.max(1, accounts.length)] ?? null, tokenLimit(tokens)),
        );
      const own = new Map<Account, number>();
      /** What was reserved of each account when a call below it was granted last. */
      const inFlight = new Map<Account, number>();
      const open: Attempt[] = [];
      const attempt = (account: Account, tokens: number, retries: number): void => {
        const wanted = { tokens, microUsd: 0, steps: 1 };
        const reservation = account.reserve(wanted, wanted, 0);
        if (!(reservation instanceof Reservation)) return;
        open.push({ account, tokens, retries, reservation });
        for (const each of account.chain()) inFlight.set(each, each.reserved.tokens);
      };
      for (const { account: n, tokens, retries, ends } of all) {
        const account = accounts[n % accounts.length] as Account;
        const [call] = ends === null ? [] : open.splice(ends.which % Math.max(1, open.length), 1);
        if (ends === null || call === undefined) attempt(account, tokens, retries);
        else {
          const used = Math.floor(call.tokens * ends.share);
          call.reservation.settle({ tokens: used, microUsd: 0, steps: 1 });
          own.set(call.account, (own.get(call.account) ?? 0) + used);
          if (ends.fails && call.retries > 0) attempt(call.account, call.tokens, call.retries - 1);
        }
        for (const each of accounts) {
          const below = accounts.filter(({ parent }) => parent === each);
          const charged = below.reduce((sum, { spent }) => sum + spent.tokens, own.get(each) ?? 0);
          expect(each.spent.tokens).toBe(charged);
          const over = each.limit === 0 ? 0 : each.spent.tokens - each.limit;
          expect(over).toBeLessThanOrEqual(inFlight.get(each) ?? 0);
        }
      }
    }),
    { numRuns: 1_000 },
  );
});
