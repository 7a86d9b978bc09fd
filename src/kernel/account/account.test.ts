import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Account, type Reservation } from "./account.ts";

describe("Account", () => {
  test("reserve() takes what is left if that is at least the least", () => {
    const account = new Account(null, 100);
    expect(account.reserve(70, 70)?.tokens).toBe(70);
    expect(account.reserve(70, 31)).toBeUndefined();
    expect(account.reserve(70, 30)?.tokens).toBe(30);
    expect(account.reserve(1, 1)).toBeUndefined();
    expect(account.view()).toEqual({ limit: 100, used: 0, reserved: 100 });
  });

  test("a refusal above changes nothing below", () => {
    const parent = new Account(null, 10);
    const child = new Account(parent, 100);
    expect(child.reserve(11, 11)).toBeUndefined();
    expect([parent.view().reserved, child.view().reserved]).toEqual([0, 0]);
    expect(child.remaining()).toBe(10);
  });

  test("settle() twice is once; more than reserved is charged, and blocks what follows", () => {
    const account = new Account(null, 100);
    const reservation = account.reserve(50, 50);
    reservation?.settle(120);
    reservation?.settle(120);
    expect(account.view()).toEqual({ limit: 100, used: 120, reserved: 0 });
    expect(account.remaining()).toBe(-20);
    expect(account.reserve(1, 0)).toBeUndefined();
  });

  test("0 and less is no limit", () => {
    for (const limit of [0, -5]) {
      expect(new Account(null, limit).remaining()).toBe(Infinity);
      expect(new Account(null, limit).reserve(1e9, 1e9)?.tokens).toBe(1e9);
    }
  });
});

/** Parents come before their children: `parent` is an index modulo what is there. */
const tree = fc.array(fc.record({ parent: fc.nat(), limit: fc.nat(50) }), { minLength: 1, maxLength: 6 });
const move = fc.record({
  account: fc.nat(),
  tokens: fc.nat(40),
  least: fc.nat(40),
  /** Settles an open reservation, with this many tokens of what was granted, instead of reserving. */
  settles: fc.option(fc.record({ which: fc.nat(), share: fc.double({ min: 0, max: 1, noNaN: true }) })),
});

describe("a tree of accounts", () => {
  test("never holds more than a limit, and a parent holds what its children hold", () => {
    fc.assert(
      fc.property(tree, fc.array(move, { maxLength: 60, size: "max" }), (nodes, moves) => {
        const accounts: Account[] = [];
        const parents: (Account | null)[] = [];
        for (const { parent, limit } of nodes) {
          const above = accounts.length === 0 ? null : accounts[parent % accounts.length]!;
          accounts.push(new Account(above, limit));
          parents.push(above);
        }
        // Only leaves spend here, so that sums are those of the children alone.
        const leaves = accounts.filter((account) => !parents.includes(account));
        const open: Reservation[] = [];
        for (const { account, tokens, least, settles } of moves) {
          if (settles === null) {
            const made = leaves[account % leaves.length]!.reserve(tokens, least);
            if (made !== undefined) open.push(made);
          } else if (open.length > 0) {
            const [done] = open.splice(settles.which % open.length, 1);
            done!.settle(Math.floor(done!.tokens * settles.share));
          }
          for (const each of accounts) {
            const { limit, used, reserved } = each.view();
            if (limit > 0) expect(used + reserved).toBeLessThanOrEqual(limit);
            const children = accounts.filter((_, i) => parents[i] === each).map((child) => child.view());
            if (children.length === 0) continue;
            expect(used).toBe(children.reduce((sum, child) => sum + child.used, 0));
            expect(reserved).toBe(children.reduce((sum, child) => sum + child.reserved, 0));
          }
        }
        for (const rest of open) rest.settle(0);
        for (const each of accounts) expect(each.view().reserved).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
