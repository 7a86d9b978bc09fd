/** Where the time of a synced event goes, by a profile of both threads of a journal, which take turns at each group. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Journal } from "../../src/kernel/ports/journal.ts";
import { openJournal } from "../../src/store/sqlite/open-journal.ts";
import { ThreadedScribe } from "../../src/store/sqlite/threaded-scribe.ts";
import type { WriterSeed } from "../../src/store/sqlite/writer-message.ts";
import type { Row } from "../table.ts";
import { beginProfile, type Profile, type Share, type Stage, shareRows, sharesOf, WAITS } from "./profile.ts";

/** Where the writer puts its profile, and with which of its tasks it begins. */
export interface ProfiledSeed extends WriterSeed {
  readonly profile: string;
  readonly fromTask: number;
}

const CALLER: readonly Stage[] = [
  ["the caller: its drafts", / events\.ts$/],
  ["body and fact of a record as text", / (?:body|fact|stored|group|chain)\.ts$/],
  ["group, and its callers answered", / (?:group-queue|paced|watch|health)\.ts$/],
  ["packed and cloned for the writer", / (?:packed|threaded-scribe|ledger)\.ts$|^postMessage/],
];
const WRITER: readonly Stage[] = [
  ["writer: unpacked, answered", / packed\.ts$|^postMessage|^(?:emitMessage|exports\.emitMessage)/],
  ["writer: hash of the record", / chain\.ts$/],
  ["writer: row of the record", /^(?:flush|add) writer\.ts$/],
  ["writer: derived tables", / (?:derived|row|row-columns|fact|record-kind)\.ts$/],
  ["writer: head", / (?:head|file-place)\.ts$/],
  ["writer: checkpoint of the log", /^(?:#checkpoint|maintain|#look) clerk\.ts$/],
  ["writer: numbers and checks", /^#(?:insert|refusalOf|isThere|meta|assertEpoch|assertAlone) writer\.ts$/],
  ["writer: transaction, its commit and sync", / (?:writer|clerk)\.ts$/],
];

/** `append` so many times, `warm` groups before them. */
export async function eventStages(
  dir: string,
  { warm, count }: { readonly warm: number; readonly count: number },
  append: (journal: Journal, groups: number) => Promise<number>,
): Promise<readonly Row[]> {
  const profile = join(dir, "writer.cpuprofile");
  const url = new URL("../doubles/profiled-writer.ts", import.meta.url);
  const journal = await openJournal({ dir: join(dir, "profiled") }, (seed, onNotice) => {
    const workerData: ProfiledSeed = { ...seed, profile, fromTask: warm + 1 };
    return new ThreadedScribe(new Worker(url, { workerData, execArgv: [] }), onNotice);
  });
  await append(journal, warm);
  const end = await beginProfile();
  const events = await append(journal, count);
  const own = sharesOf(await end(), CALLER);
  await journal.close();
  const writer = sharesOf(JSON.parse(readFileSync(profile, "utf8")) as Profile, WRITER);
  const busy = sum(writer.filter(([words]) => words !== WAITS));
  const waited = sum(own.filter(([words]) => words === WAITS));
  const all: Share[] = [
    ...own.filter(([words]) => words !== WAITS),
    ...writer.filter(([words]) => words !== WAITS).map(([words, ms]): Share => [inWriter(words), ms]),
    ["between the threads: neither is at work", Math.max(0, waited - busy)],
  ];
  return shareRows(all, (ms) => ((1_000 * ms) / events).toFixed(2));
}

function inWriter(words: string): string {
  return words.startsWith("writer: ") ? words : `writer: ${words}`;
}

function sum(shares: readonly Share[]): number {
  return shares.reduce((total, [, ms]) => total + ms, 0);
}
