/**
 * What the journal costs, in one run:
 *   node bench/journal.ts            (npm run build first)
 * Events: records of a usual size through the journal port, synced before each append resolves; one after another, and in
 * groups of what is in flight at once. The baseline is a bare append and fdatasync of the same bytes, grouped alike.
 * Turns: an agent that makes 50 shell calls, with the journal and with one in memory in its place (a build of its own), interleaved.
 * Opening: a session with a history of a million records, in a daemon that has just been started; and a boot with 10,000 paused
 * agents. Sizes: CRUX_BENCH_EVENTS (200000), CRUX_BENCH_HISTORY (1000000), CRUX_BENCH_BOOT (10000), CRUX_BENCH_ROUNDS (9).
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asCallId, asPid, asProcUuid } from "../src/abi/ids.ts";
import type { Journal, JournalDraft } from "../src/kernel/ports/journal.ts";
import { openJournal } from "../src/store/journal.ts";
import { printTable, type Row } from "./table.ts";

const EVENTS = Number(process.env.CRUX_BENCH_EVENTS ?? 200_000);
const SINGLE = Math.max(500, Math.floor(EVENTS / 100));
const PROC = asProcUuid("11111111-1111-4111-8111-111111111111");
const PID = asPid(1);

const rows: Row[] = [];
const dir = mkdtempSync(join(tmpdir(), "crux-bench-"));
try {
  const journal = await openJournal({ dir: join(dir, "journal") });
  try {
    await events(journal, "one after another", SINGLE, 1);
    await events(journal, "64 in flight", Math.floor(EVENTS / 4), 64);
    await events(journal, "2,000 in flight", EVENTS, 2_000);
  } finally {
    await journal.close();
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
printTable(["what", "figure", "baseline", "ratio", "aim"], rows);

/** A call and its outcome in turn: what most of a history consists of. */
function draft(n: number): JournalDraft {
  const call = asCallId(`c_${(n >> 1).toString(16).padStart(16, "0")}`);
  const own = { proc: PROC, pid: PID, v: 1, call };
  if (n % 2 === 1)
    return { ...own, kind: "call.result", body: { ok: true, cost: { tokens: 120, usd: null } } };
  const effects = [{ kind: "exec", command: "npm test -- --run src/lib", cwd: "/home/person/project" }];
  const input = '{"command":"npm test -- --run src/lib","description":"run the tests of lib"}';
  return {
    ...own,
    kind: "call.intent",
    body: { tool: "bash", device: "/bin/bash", class: "once", effects, input },
  };
}

async function events(journal: Journal, how: string, count: number, inFlight: number): Promise<void> {
  const own = await rateOf(count, inFlight, async (first, size) => {
    await Promise.all(Array.from({ length: size }, (_, i) => journal.append([draft(first + i)])));
  });
  const bare = await bareAppends(count, inFlight);
  rows.push([
    `synced events a second, ${how}`,
    own.toFixed(0),
    `${bare.toFixed(0)} bare append + fdatasync`,
    `${(own / bare).toFixed(2)}x`,
    inFlight > 64 ? "60,000" : "",
  ]);
}

async function rateOf(
  count: number,
  inFlight: number,
  act: (first: number, size: number) => Promise<void>,
): Promise<number> {
  const began = performance.now();
  for (let done = 0; done < count; done += inFlight) await act(done, Math.min(inFlight, count - done));
  return count / ((performance.now() - began) / 1000);
}

/** The same records as lines of JSON: a write and an fdatasync for each group, nothing else. */
async function bareAppends(count: number, batch: number): Promise<number> {
  const file = openSync(join(dir, "bare"), "w");
  try {
    return await rateOf(count, batch, async (first, size) => {
      const lines = Array.from({ length: size }, (_, i) => `${JSON.stringify(draft(first + i))}\n`);
      writeSync(file, lines.join(""));
      fdatasyncSync(file);
    });
  } finally {
    closeSync(file);
  }
}
