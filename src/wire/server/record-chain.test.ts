import { expect, it } from "vitest";
import { asPid, type ProcUuid } from "../../abi/ids.ts";
import type { JournalLine } from "../../abi/journal/line.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import { encodeBody } from "../../store/journal/body.ts";
import { chainHash, genesis } from "../../store/journal/chain.ts";
import { inChain } from "./record-chain.ts";

const KERNEL = "10000000-0000-4000-8000-000000000000";
type Written = { readonly kind: string; readonly body: unknown };

/** As `crux journal --json` prints them. */
function lines(proc: string, written: readonly Written[], before?: JournalLine): JournalLine[] {
  let previous = before === undefined ? genesis(KERNEL, proc) : Buffer.from(before.hash, "hex");
  return written.map(({ kind, body }, n) => {
    const own = { lsn: n + 10, seq: n + 1, epoch: 1, proc, pid: 1, kind, v: 1, at: 5, mono: 6.5 };
    const stored = encodeBody(body).text;
    previous = chainHash(previous, { ...own, call: null, body: stored });
    return {
      ...own,
      hash: Buffer.from(previous).toString("hex"),
      ...(n === 0 && before === undefined ? { kernel: KERNEL } : {}),
      body,
      ...(stored === JSON.stringify(body) ? {} : { stored }),
    };
  });
}

const words = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ kind: "ctx.record", body: { role: "user", content: `${n}` } }));

async function take(all: readonly object[]): Promise<number> {
  let count = 0;
  const each = async function* () {
    for (const line of all) yield JSON.parse(JSON.stringify(line)) as JournalRecord;
  };
  for await (const { pid } of inChain(each())) if (pid === asPid(1)) count++;
  return count;
}

const run = lines("a", words(20));
const other = lines("b", words(20));
const large = lines("a", [...words(2), { kind: "call.read", body: { text: "x".repeat(100_000) } }]);
const fork = [
  ...run.slice(0, 7),
  ...lines("f", [{ kind: "process.forked", body: { from: "a", at: 7 } }, ...words(3)], run[6]),
];
const bare = run.map(({ hash: _, kernel: __, ...line }) => line);

it.each([
  ["a run", run],
  ["what is kept apart", large],
  ["a fork behind what it remembers", fork],
  ["records without hashes", bare],
  ["a fork of which only its own are there", fork.slice(7)],
])("inChain() lets %s through", async (_, all) => {
  expect(await take(all)).toBe(all.length);
});

const at = (n: number, change: object) => run.with(n - 1, { ...run[n - 1]!, ...change });

it.each<[string, readonly object[], string]>([
  ["another body", at(17, { body: { role: "user", content: "no" } }), "record 17 was changed"],
  ["another first body", at(1, { body: {} }), "record 1 was changed"],
  ["another kind", at(17, { kind: "process.log" }), "record 17 was changed"],
  ["another time", at(17, { at: 6 }), "record 17 was changed"],
  ["another hash", at(17, { hash: "00".repeat(32) }), "record 17 was changed"],
  ["no hash", at(17, { hash: undefined }), "record 17 was changed: it has no hash"],
  [
    "a body beside what is stored",
    large.with(2, { ...large[2]!, body: { text: "y" } }),
    "record 3 was changed",
  ],
  ["bodies that changed places", at(17, { body: run[17]!.body }), "record 17 was changed"],
  ["one missing", run.toSpliced(16, 1), "record 17 is missing or out of place: record 18 stands there"],
  ["three missing", run.toSpliced(4, 3), "records 5 to 7 are missing"],
  ["the first missing", run.slice(1), "record 1 is missing"],
  [
    "two that changed places",
    run.toSpliced(16, 2, run[17]!, run[16]!),
    "record 17 is missing or out of place",
  ],
  ["one twice", run.toSpliced(16, 0, run[15]!), "record 16 is out of place: it stands behind record 16"],
  ["one of another process", run.with(16, other[16]!), "record 17 is of another process: b"],
  ["one more of another process", [...run, other[0]!], "record 1 is of another process: b"],
  ["a fork of another place", [...run.slice(0, 6), ...fork.slice(7)], "record 1 is of another process: f"],
  ["one missing without hashes", bare.toSpliced(16, 1), "record 17 is missing"],
])("inChain() names what is wrong: %s", async (_, all, message) => {
  const found = take(all);
  await expect(found).rejects.toThrow(message);
  await expect(found).rejects.toMatchObject({
    code: "INVALID",
    fact: { kind: "bad_recording" },
  });
});

it("inChain() names the next record where one was changed together with its hash", async () => {
  const body = { role: "user", content: "forged" };
  const { hash: _, kernel: __, stored: ___, ...own } = run[16]!;
  const previous = Buffer.from(run[15]!.hash, "hex");
  const hash = chainHash(previous, { ...own, proc: "a" as ProcUuid, call: null, body: JSON.stringify(body) });
  const all = at(17, { body, hash: Buffer.from(hash).toString("hex") });
  await expect(take(all)).rejects.toThrow("record 18 was changed");
});
