import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AnchorTree, anchorRoot, chainHash, genesis, type StoredRecord } from "./chain.ts";

const sha = (...parts: (string | Uint8Array)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();

const RECORD: StoredRecord = {
  lsn: 7,
  proc: "11111111-1111-4111-8111-111111111111",
  pid: 3,
  seq: 2,
  epoch: 1,
  kind: "ctx.record",
  v: 1,
  call: null,
  at: 1_700_000_000_000,
  mono: 12.5,
  body: '{"role":"user","content":"ä"}',
};

const records = fc.record({
  lsn: fc.nat(),
  proc: fc.uuid(),
  pid: fc.nat(),
  seq: fc.nat(),
  epoch: fc.nat(),
  kind: fc.string(),
  v: fc.nat(),
  call: fc.option(fc.string()),
  at: fc.double({ noNaN: true, noDefaultInfinity: true }),
  mono: fc.double({ noNaN: true, noDefaultInfinity: true }),
  body: fc.string(),
});
const digest = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("chainHash()", () => {
  test("is SHA-256 of the previous hash and the fields as the page says", () => {
    const previous = genesis("kernel", RECORD.proc);
    expect(previous).toEqual(sha("crux-journal-1", "kernel", RECORD.proc));
    const head = '[7,"11111111-1111-4111-8111-111111111111",2,1,3,"ctx.record",1,null,1700000000000,12.5]';
    expect(chainHash(previous, RECORD)).toEqual(sha(previous, head, "\n", RECORD.body));
    const large = { ...RECORD, body: `"${"ä€".repeat(100_000)}"` };
    expect(chainHash(previous, large)).toEqual(sha(previous, head, "\n", large.body));
  });

  test("is another for any other field and any other hash before it", () => {
    fc.assert(
      fc.property(records, records, digest, digest, (a, b, before, other) => {
        const hash = Buffer.from(chainHash(before, a)).toString("hex");
        for (const key of Object.keys(a) as (keyof StoredRecord)[]) {
          if (JSON.stringify(a[key]) === JSON.stringify(b[key])) continue;
          expect(Buffer.from(chainHash(before, { ...a, [key]: b[key] })).toString("hex")).not.toBe(hash);
        }
        if (Buffer.compare(before, other) !== 0)
          expect(Buffer.from(chainHash(other, a)).toString("hex")).not.toBe(hash);
      }),
    );
  });
});

describe("anchorRoot()", () => {
  const hash = (n: number) => sha(String(n));
  const leaf = (proc: string, seq: number, own: Uint8Array) =>
    sha(Uint8Array.of(0), `${JSON.stringify([proc, seq])}\n`, own);

  test("is the Merkle root over the sorted tails and the root before", () => {
    const none = new Uint8Array(32);
    expect(anchorRoot([], null)).toEqual(sha(Uint8Array.of(2), none, none));
    const tails = ["c", "a", "b"].map((proc, n) => ({ proc, seq: n + 1, hash: hash(n) }));
    const [c, a, b] = tails.map((tail) => leaf(tail.proc, tail.seq, tail.hash));
    const pair = sha(Uint8Array.of(1), a as Uint8Array, b as Uint8Array);
    const top = sha(Uint8Array.of(1), pair, c as Uint8Array);
    expect(anchorRoot(tails, hash(9))).toEqual(sha(Uint8Array.of(2), hash(9), top));
  });

  test("joins pairs level by level, and an odd last node moves up, however many tails there are", () => {
    const join = (level: readonly Uint8Array[]): Uint8Array => {
      if (level.length === 1) return level[0] as Uint8Array;
      const pairs = level.flatMap((left, n) => (n % 2 === 0 ? [[left, ...level.slice(n + 1, n + 2)]] : []));
      return join(
        pairs.map((pair) => (pair.length === 1 ? (pair[0] as Uint8Array) : sha(Uint8Array.of(1), ...pair))),
      );
    };
    for (let count = 1; count <= 70; count++) {
      const tree = new AnchorTree();
      const tails = Array.from({ length: count }, (_, n) => ({ proc: `p${n + 100}`, seq: n, hash: hash(n) }));
      for (const tail of tails) tree.add(tail);
      const top = join(tails.map(({ proc, seq, hash: own }) => leaf(proc, seq, own)));
      const root = sha(Uint8Array.of(2), hash(9), top);
      expect([tree.count, tree.root(hash(9)), anchorRoot(tails, hash(9))]).toEqual([count, root, root]);
    }
  });

  test("does not depend on the order, but on every tail", () => {
    const tail = fc.record({ proc: fc.uuid(), seq: fc.nat(), hash: digest });
    fc.assert(
      fc.property(
        fc.uniqueArray(tail, { selector: ({ proc }) => proc, minLength: 1 }),
        fc.nat(),
        (tails, n) => {
          const root = anchorRoot(tails, null);
          expect(anchorRoot(tails.toReversed(), null)).toEqual(root);
          const at = n % tails.length;
          const changed = tails.with(at, { ...tails[at]!, seq: tails[at]!.seq + 1 });
          expect(anchorRoot(changed, null)).not.toEqual(root);
          expect(anchorRoot(tails.toSpliced(at, 1), null)).not.toEqual(root);
        },
      ),
    );
  });
});
