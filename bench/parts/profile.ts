/**
 * Where the time of a thread goes, by V8's sampling profiler: a sample belongs to the first stage that is found on its stack, from the
 * innermost function outwards. Samples are taken by the clock, so what the thread waits for is in them.
 */
import { type Profiler, Session } from "node:inspector/promises";
import { basename } from "node:path";
import type { Row } from "../table.ts";

export type Profile = Profiler.Profile;
/** Words for people, and what it stands for: functions as their source calls them, each followed by a space and its file. */
export type Stage = readonly [words: string, functions: RegExp];
/** Words and milliseconds. */
export type Share = readonly [words: string, ms: number];

const SAMPLE_US = 1_000;
/** What V8 tells of a thread that runs no function. */
export const WAITS = "waits";
const OWN: readonly Stage[] = [
  [WAITS, /^\(idle\)/],
  ["garbage collection", /^\(garbage collector\)/],
];

/** Of the calling thread; the returned function ends it. */
export async function beginProfile(): Promise<() => Promise<Profile>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: SAMPLE_US });
  await session.post("Profiler.start");
  return async () => {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    return profile;
  };
}

/** What each stage took, what the thread waited first; all of them are the whole profile. */
export function sharesOf(
  { nodes, samples = [], timeDeltas = [] }: Profile,
  stages: readonly Stage[],
): readonly Share[] {
  const all = [...OWN, ...stages];
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url } }) => [id, `${functionName} ${basename(url)}`]),
  );
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const known = new Map<number, string>();
  const stageOf = (id: number): string => {
    const found = known.get(id) ?? all.find(([, functions]) => functions.test(names.get(id) ?? ""))?.[0];
    const parent = parents.get(id);
    const words = found ?? (parent === undefined ? REST : stageOf(parent));
    known.set(id, words);
    return words;
  };
  const sums = new Map([...all.map(([words]) => words), REST].map((words) => [words, 0]));
  for (const [at, id] of samples.entries()) {
    if (PROFILER.test(names.get(id) ?? "")) continue;
    const words = stageOf(id);
    sums.set(words, (sums.get(words) ?? 0) + (timeDeltas[at] ?? 0) / 1_000);
  }
  return [...sums];
}

const REST = "everything else";
/** Its own work at the beginning and the end belongs to nobody. */
const PROFILER = /^post node:inspector$/;

/** Rows for what each of `count` pieces of work takes, and which part of the whole that is. */
export function shareRows(shares: readonly Share[], format: (ms: number) => string): readonly Row[] {
  const sum = shares.reduce((total, [, ms]) => total + ms, 0);
  return [
    ...shares.map(([words, ms]) => [words, format(ms), `${((100 * ms) / sum).toFixed(0)} %`]),
    ["all of them", format(sum), "100 %"],
  ];
}
