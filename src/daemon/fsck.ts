/**
 * `crux daemon --internal-fsck [--full] [--repair] [pid|uuid…]`: checks a journal that no daemon has open, under the
 * daemon's own lock, and prints what a daemon would answer: lines of `progress`, then `complete` or `error`. The client
 * displays them.
 */
import { existsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../abi/errors.ts";
import type { CheckWire } from "../abi/journal/wire.ts";
import { journalDir, stateDir } from "../lib/paths.ts";
import { systemClock } from "../lib/time/system-clock.ts";
import { isUnwritable } from "../store/fault.ts";
import { isRunning, type Lease, readOwner, takeLease } from "../store/lease.ts";
import { type CheckResult, checkJournal } from "../store/offline/check.ts";
import { Pace } from "../store/offline/pace.ts";
import { repairJournal } from "../store/offline/repair.ts";
import { homeOf } from "../wire/codec/address.ts";
import { toWireError } from "../wire/codec/error.ts";
import { encodeLine } from "../wire/codec/ndjson.ts";
import { checkWire, findingWire } from "../wire/server/handlers/journal-wire.ts";

const PROGRESS_MS = 200;

export async function fsckMain(argv: readonly string[]): Promise<never> {
  try {
    const payload = await checkOffline(journalDir(stateDir(process.env, homeOf(process.env))), argv);
    print({ type: "complete", payload });
  } catch (error) {
    print({ type: "error", payload: toWireError(error) });
  }
  process.exit(0);
}

async function checkOffline(dir: string, argv: readonly string[]): Promise<CheckWire> {
  const nothing = { processes: 0, records: 0, blobs: 0, elapsed_ms: 0, findings: [] };
  // a check creates no directory
  if (!existsSync(dir)) return nothing;
  const lease = await leaseFor(dir, argv);
  try {
    return await check(dir, argv);
  } finally {
    lease?.release();
  }
}

/** undefined: the directory cannot be written and so not locked; a check is safe if no daemon has it open. */
async function leaseFor(dir: string, argv: readonly string[]): Promise<Lease | undefined> {
  try {
    const lease = await takeLease(dir);
    if (lease === null) throw taken(dir);
    return lease;
  } catch (error) {
    if (!isUnwritable(error) || argv.includes("--repair")) throw error;
    const owner = readOwner(dir);
    if (owner !== null && isRunning(owner)) throw taken(dir);
    return undefined;
  }
}

async function check(dir: string, argv: readonly string[]): Promise<CheckWire> {
  const began = performance.now();
  const only = argv.filter((word) => !word.startsWith("--"));
  const pace = new Pace(systemClock, 1);
  const run = (): Promise<CheckResult> =>
    checkJournal(dir, { full: argv.includes("--full"), isAlone: true, only, pace, progress: teller() });
  const before = await run();
  const isMended = argv.includes("--repair") && before.findings.some(({ repair }) => repair !== undefined);
  const repaired = isMended ? await repairJournal(dir, before, { now: new Date(), pace }) : undefined;
  const left = repaired === undefined ? before : await run();
  const report = checkWire({ ...left, elapsedMs: Math.round(performance.now() - began) });
  if (repaired === undefined) return report;
  return { ...report, repaired: { findings: before.findings.map(findingWire), ...repaired } };
}

function taken(dir: string): Fault {
  const pid = readOwner(join(dir))?.pid;
  const owner = pid === undefined ? "a daemon" : `a daemon (PID ${pid})`;
  return new Fault({
    code: "CONFLICT",
    message: `${owner} has the journal open`,
    fact: { kind: "journal_in_use" },
  });
}

function teller(): (records: number) => void {
  let toldAt = 0;
  return (records) => {
    const now = performance.now();
    if (now - toldAt < PROGRESS_MS) return;
    toldAt = now;
    print({ type: "progress", payload: { records } });
  };
}

/** Prints a line for the client that started the check; exits if the client is gone. */
function print(line: unknown): void {
  let text = Buffer.from(encodeLine(line));
  while (text.length > 0) {
    try {
      text = text.subarray(writeSync(1, text));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EAGAIN") process.exit(1);
    }
  }
}
