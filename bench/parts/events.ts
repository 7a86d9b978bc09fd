/** Records through the journal port, synced before each append resolves; beside the same bytes through a bare file. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asCallId, asPid, asProcUuid } from "../../src/abi/ids.ts";
import type { Journal, JournalDraft } from "../../src/kernel/ports/journal.ts";
import { openJournal } from "../../src/store/sqlite/open-journal.ts";
import { median, type Row } from "../table.ts";
import { eventStages } from "./event-stages.ts";

const PROC = asProcUuid("11111111-1111-4111-8111-111111111111");
const PID = asPid(1);
/** Of each, interleaved: what else the machine does meets both. */
const PARTS = 5;

/** The largest groups. */
const MOST = 2_000;
const WARM = 10;

/** `count` records in large groups, fewer in small ones. */
export async function events(count: number): Promise<readonly Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "crux-bench-"));
  const file = openSync(join(dir, "bare"), "w");
  try {
    const journal = await openJournal({ dir: join(dir, "journal") });
    try {
      const own = { journal, file };
      return [
        ...(await compared(own, "one after another", Math.max(500, Math.floor(count / 100)), 1, "")),
        ...(await compared(own, "64 in flight", Math.floor(count / 4), 64, "")),
        ...(await compared(own, "2,000 in flight", count, MOST, "60,000")),
      ];
    } finally {
      await journal.close();
    }
  } finally {
    closeSync(file);
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Of `count` records in the largest groups. */
export async function stagesOfEvents(count: number): Promise<readonly Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "crux-bench-"));
  try {
    const groups = Math.max(WARM, Math.floor(count / MOST));
    return await eventStages(dir, { warm: WARM, count: groups }, async (journal, many) => {
      await rateOf(many * MOST, MOST, (drafts) => appended(journal, drafts));
      return many * MOST;
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Ways {
  readonly journal: Journal;
  readonly file: number;
}

async function compared(
  { journal, file }: Ways,
  how: string,
  count: number,
  inFlight: number,
  aim: string,
): Promise<readonly Row[]> {
  const [own, bare]: [number[], number[]] = [[], []];
  const [ownCpu, bareCpu]: [number[], number[]] = [[], []];
  for (let part = 0; part < PARTS; part++) {
    const began = cpuMicros();
    own.push(await rateOf(count / PARTS, inFlight, (drafts) => appended(journal, drafts)));
    const between = cpuMicros();
    bare.push(await rateOf(count / PARTS, inFlight, async (drafts) => written(file, drafts)));
    ownCpu.push(((between - began) * PARTS) / count);
    bareCpu.push(((cpuMicros() - between) * PARTS) / count);
  }
  const [ours, theirs] = [median(own), median(bare)];
  const baseline = `${theirs.toFixed(0)} bare append + fdatasync`;
  const ratio = `${(ours / theirs).toFixed(2)}x`;
  const [cpu, least] = [median(ownCpu), median(bareCpu)];
  return [
    [`synced events a second, ${how}`, ours.toFixed(0), baseline, ratio, aim],
    [
      "  processor time of one, both threads",
      `${cpu.toFixed(1)} us`,
      `${least.toFixed(1)} us`,
      `${(cpu / least).toFixed(1)}x`,
      "",
    ],
  ];
}

/** Of this process: what others do on a busy machine is not in it. */
function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function rateOf(
  count: number,
  inFlight: number,
  act: (drafts: readonly JournalDraft[]) => Promise<void>,
): Promise<number> {
  const began = performance.now();
  let done = 0;
  for (; done < count; done += inFlight)
    await act(Array.from({ length: inFlight }, (_, n) => draft(done + n)));
  return done / ((performance.now() - began) / 1000);
}

async function appended(journal: Journal, drafts: readonly JournalDraft[]): Promise<void> {
  await Promise.all(drafts.map((each) => journal.append([each])));
}

/** As lines of JSON: one write and one fdatasync, nothing else. */
function written(file: number, drafts: readonly JournalDraft[]): void {
  writeSync(file, drafts.map((each) => `${JSON.stringify(each)}\n`).join(""));
  fdatasyncSync(file);
}

/** A call and its outcome in turn: what most of a history consists of. */
function draft(n: number): JournalDraft {
  const call = asCallId(`c_${(n >> 1).toString(16).padStart(16, "0")}`);
  const own = { proc: PROC, pid: PID, v: 1, call };
  if (n % 2 === 1)
    return { ...own, kind: "call.result", body: { ok: true, cost: { tokens: 120, usd: null } } };
  const effects = [{ kind: "exec", command: "npm test -- --run src/lib", cwd: "/home/person/project" }];
  const input = '{"command":"npm test -- --run src/lib","description":"run the tests of lib"}';
  const body = { tool: "bash", device: "/bin/bash", class: "once", effects, input };
  return { ...own, kind: "call.intent", body };
}
