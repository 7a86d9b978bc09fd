/** A removal that the daemon's death cuts off, at each of its transactions. */
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "../../lib/time/system-clock.ts";
import { checkJournal } from "./check.ts";
import { Pace } from "./pace.ts";
import { repairJournal } from "./repair.ts";
import { copyOf, draft, exited, LARGE, makePast, offline, openHere, proc, spawned, sql } from "./testing.ts";
import { openTools } from "./tools.ts";

const DAY = 24 * 3600 * 1000;
const RETENTION = { cleanupPeriodDays: 30, maxBytes: 2 ** 30 };
const dirs: string[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});

/** The journal's directory as it lay on the disk before each commit of a removal, and after the last. */
async function deaths(): Promise<string[]> {
  const dir = await makePast();
  dirs.push(dir);
  let now = 1_800_000_000_000;
  const clock = { ...systemClock, now: () => now };
  const journal = await openHere(dir, { clock });
  await journal.append([spawned(7), ...Array.from({ length: 600 }, (_, n) => draft(7, "ctx.record", { n }))]);
  await journal.append([draft(7, "ctx.record", { role: "user", content: LARGE }), exited(7)]);
  now += 31 * DAY;
  const tools = openTools(dir, { clock, journal, maxBytes: () => 2 ** 30, isHeld: (pid) => pid !== 7 });
  const found: string[] = [];
  const { exec } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(function (this: DatabaseSync, text) {
    if (text === "COMMIT") found.push(copyOf(dir));
    return exec.call(this, text);
  });
  const report = await tools.collect({ retention: RETENTION, now, dryRun: false });
  expect(report.processes).toMatchObject([{ pid: 7 }]);
  vi.restoreAllMocks();
  found.push(copyOf(dir));
  await journal.close();
  dirs.push(...found);
  return found;
}

test("fsck and audit find no damage, and the next daemon brings it to its end", async () => {
  const found = await deaths();
  expect(found.length).toBeGreaterThan(4);
  for (const [at, dir] of found.entries()) {
    for (const full of [false, true]) {
      const { findings } = await offline(copied(dir)).check({ full });
      expect(
        findings.filter(({ severity }) => severity === "damage"),
        `cut ${at}, full ${full}`,
      ).toEqual([]);
    }
    expect((await offline(copied(dir)).verify({})).broken, `cut ${at}`).toBeNull();
    const journal = await openHere(dir);
    const tools = openTools(dir, {
      clock: systemClock,
      journal,
      maxBytes: () => 2 ** 30,
      isHeld: () => true,
    });
    const isBegun = (await journal.row(proc(7))) === undefined;
    await tools.collect({ retention: RETENTION, now: 0, dryRun: false });
    await journal.close();
    const left = sql(dir, "SELECT count(*) AS n FROM records WHERE proc = ?", proc(7))[0]?.n;
    expect(left, `cut ${at}`).toBe(isBegun ? 0 : 603);
    const { findings } = await offline(dir).check({ full: true });
    expect(
      findings.filter(({ severity }) => severity === "damage"),
      `after cut ${at}`,
    ).toEqual([]);
  }
});

test("a repair in the middle makes no row of what is left: without its exit it would be taken for one that lives", async () => {
  for (const [at, dir] of (await deaths()).entries()) {
    const pace = new Pace(systemClock, 1);
    const options = { full: true, isAlone: true, only: [], pace, progress: () => {} };
    await repairJournal(dir, await checkJournal(dir, options), { now: new Date(0), pace });
    const journal = await openHere(dir);
    expect(
      (await journal.unfinished()).map(({ pid }) => pid),
      `cut ${at}`,
    ).toEqual([1, 3]);
    await journal.close();
  }
});

function copied(dir: string): string {
  const copy = copyOf(dir);
  dirs.push(copy);
  return copy;
}
