import fc from "fast-check";
import { expect, test } from "vitest";
import { asPid } from "../../abi/ids.ts";
import { anyChar } from "../../lib/testing/any-char.ts";
import { encodeBody } from "./body.ts";
import { factOf } from "./fact.ts";
import type { Batch, BatchVerdict, Entry } from "./ledger.ts";
import { packBatches, packVerdicts, unpackBatches, unpackVerdicts } from "./packed.ts";

const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const kind = fc.constantFrom("process.spawned", "mail.put", "ctx.record", "process.exited", "call.read");
const entry = fc
  .record({
    proc: fc.constantFrom("a", "b", "", "__proto__"),
    kind,
    pid: fc.nat(),
    v: fc.nat(),
    call: fc.option(fc.string({ unit: anyChar })),
    at: number,
    mono: number,
    body: fc.oneof(
      fc.record({ seq: fc.nat(), role: fc.constant("user"), text: fc.string({ unit: anyChar }) }),
      // their blobs; what is in them does not matter here
      fc.constantFrom(1, 2).map((blobs) => ({ blobs })),
    ),
  })
  .map(({ body, ...own }): Entry => {
    const { text, names } = encodeBody(body);
    const count = "blobs" in body ? body.blobs : 0;
    const blobs = Array.from({ length: count }, (_, n) => ({ digest: `${n}`, bytes: Uint8Array.of(n, 255) }));
    const fact = factOf({ kind: own.kind, body }) ?? null;
    return { ...own, pid: asPid(own.pid), body: text, names, blobs, fact };
  });
const batch = fc
  .record({ entries: fc.array(entry, { maxLength: 4 }), expect: fc.option(fc.nat()) })
  .map(({ entries, expect: last }): Batch => (last === null ? { entries } : { entries, expect: last }));

/** As they come out on the other side of a thread. */
const sent = <T>(value: T): T => structuredClone(value);

test("unpackBatches() gives what was packed, also through a thread", () => {
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 6 }), (batches) => {
      expect(unpackBatches(sent(packBatches(batches)))).toEqual(batches);
    }),
  );
});

test("unpackVerdicts() gives each batch its own verdict, with refusals between", () => {
  const isRefused = fc.boolean();
  fc.assert(
    fc.property(fc.array(fc.tuple(batch, isRefused), { maxLength: 6 }), (asked) => {
      let lsn = 0;
      const verdicts = asked.map(
        ([{ entries }, refused], n): BatchVerdict =>
          refused
            ? { code: "CONFLICT", message: `batch ${n}` }
            : entries.map(() => ({ lsn: ++lsn, seq: lsn * 7 })),
      );
      const batches = asked.map(([each]) => each);
      expect(unpackVerdicts(sent(packVerdicts(verdicts)), batches)).toEqual(verdicts);
    }),
  );
});
