import { expect, test } from "vitest";
import { asProcUuid } from "../../abi/ids.ts";
import type { JournalRecord } from "../ports/journal.ts";
import { eachAt, recordsOf } from "./records.ts";

const proc = asProcUuid("00000000-0000-4000-8000-000000000001");
const LENGTH = 200;
const recordAt = (seq: number) => ({ proc, seq }) as JournalRecord;

/** A history, and in which round of the event loop each page of it was read. */
function journal() {
  const [rounds, sizes]: [number[], number[]] = [[], []];
  let round = 0;
  let next: NodeJS.Immediate | undefined;
  const turn = (): void => {
    round++;
    next = setImmediate(turn);
  };
  turn();
  const given = (seqs: readonly number[]) => {
    rounds.push(round);
    sizes.push(seqs.length);
    return seqs.filter((seq) => seq <= LENGTH).map(recordAt);
  };
  return {
    rounds,
    sizes,
    read: async (_: unknown, from: number, limit: number) =>
      given(Array.from({ length: limit }, (_, n) => from + n)),
    readAt: async (_: unknown, seqs: readonly number[]) => given(seqs),
    [Symbol.dispose]: () => clearImmediate(next),
  };
}

function expectPieces({ rounds, sizes }: { rounds: readonly number[]; sizes: readonly number[] }): void {
  expect(Math.max(...sizes)).toBeLessThan(LENGTH / 2);
  expect(new Set(rounds).size).toBe(rounds.length);
}

test("recordsOf() gives a long history in order, and lets other work in after each page", async () => {
  using history = journal();
  const seqs: number[] = [];
  for await (const { seq } of recordsOf(history, proc)) seqs.push(seq);
  expect(seqs).toEqual(Array.from({ length: LENGTH }, (_, n) => n + 1));
  expectPieces(history);
});

test("eachAt() maps the records in the order of their places, and lets other work in between two pages", async () => {
  using history = journal();
  const places = Array.from({ length: LENGTH }, (_, n) => ({ proc, seq: n + 1 }));
  expect(await eachAt(history, places, ({ seq }) => seq)).toEqual(places.map(({ seq }) => seq));
  expectPieces(history);
});
