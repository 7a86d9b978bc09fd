/** Where the rest is of what idle agents take in memory, and of what it takes to list all processes. */

import type { Wire } from "../../test/harness/wire.ts";
import type { Row } from "../table.ts";
import type { Insight } from "./insight.ts";
import { type MemoryPart, mappedOf, memoryParts } from "./mapped-memory.ts";
import { ask } from "./place.ts";
import { type Share, type Stage, sharesOf, WAITS } from "./profile.ts";

const LISTS = 10;

export function partsOf(pid: number, insight: Insight): Promise<readonly MemoryPart[]> {
  return insight.memory().then((inside) => memoryParts(mappedOf(pid), inside));
}

/** What each of `count` agents has added to each part of the memory; all parts together are what it has added. */
export function addedRows(
  before: readonly MemoryPart[],
  after: readonly (readonly [count: number, parts: readonly MemoryPart[]])[],
): readonly Row[] {
  const added = ([count, parts]: (typeof after)[number]): number[] =>
    parts.map(([, bytes], at) => (bytes - (before[at]?.[1] ?? 0)) / count / 1024);
  const columns = after.map(added);
  const sums = columns.map((column) => column.reduce((sum, each) => sum + each, 0).toFixed(1));
  return [
    ...before.map(([words], at) => [words, ...columns.map((column) => (column[at] ?? 0).toFixed(1))]),
    ["all of them", ...sums],
  ];
}

const LISTING: readonly Stage[] = [
  [
    "daemon: looks at each process",
    /^(?:infoOf|addWaits|addRole|addFacts|inOrder|candidates|withPlaces|info|run)\d* /,
  ],
  ["daemon: makes rows of the wire", /^(?:toWireProc|toWireRow|pageOf|subtreeOf|slotOf)\d* /],
  ["daemon: writes them as text", /^(?:encodeLine|writeBuffer|write|writeOrBuffer|#send)\d* /],
];

/** Of all processes in one answer: a profile of the daemon, and beside it what the client does with the text. */
export async function listStages(wire: Wire, insight: Insight): Promise<readonly Row[]> {
  const times: number[] = [];
  let parsed = 0;
  const profile = await insight.profiled(async () => {
    for (let n = 0; n < LISTS; n++) {
      const began = performance.now();
      const answer = await ask(wire, "list_procs", {});
      times.push(performance.now() - began);
      parsed += parseMs(answer);
    }
  });
  const busy = sharesOf(profile, LISTING).filter(([words]) => words !== WAITS);
  const whole = times.reduce((sum, each) => sum + each, 0);
  const known = busy.reduce((sum, [, ms]) => sum + ms, 0) + parsed;
  const all: readonly Share[] = [
    ...busy,
    ["client: reads the text", parsed],
    ["socket, and neither at work", Math.max(0, whole - known)],
  ];
  const sum = Math.max(whole, known);
  const row = ([words, ms]: Share): Row => [
    words,
    (ms / LISTS).toFixed(2),
    `${((100 * ms) / sum).toFixed(0)} %`,
  ];
  return [...all.map(row), row(["all of them", sum])];
}

/** A second reading of the same text. */
function parseMs(answer: unknown): number {
  const text = JSON.stringify(answer);
  const began = performance.now();
  JSON.parse(text);
  return performance.now() - began;
}
