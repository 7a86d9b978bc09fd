import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asProcUuid } from "../abi/ids.ts";
import type { JournalRecord } from "../kernel/ports/journal.ts";
import { oldestUsed, workplaces } from "./workplaces.ts";

const DAY_MS = 24 * 3600 * 1000;

test("workplaces() knows where processes work, and where those that are not in memory would come back", async () => {
  const record = (body: object) => ({ proc: asProcUuid("p"), body }) as JournalRecord;
  const journal = {
    unfinished: async () => [record({ worktree: { path: "/w/.crux/worktrees/kept" } })],
    newest: async () => record({ worktree: { path: "/w/.crux/worktrees/entered" } }),
  };
  const cwds = [{ cwd: "/w/.crux/worktrees/live/src" }];
  const isUsed = await workplaces({ kernel: { table: { all: () => cwds } } }, { journal });
  const used = ["live", "kept", "entered", "free"].map((name) => isUsed(`/w/.crux/worktrees/${name}`));
  expect(used).toEqual([true, true, true, false]);
  cwds.push({ cwd: "/w/.crux/worktrees/free" });
  expect(isUsed("/w/.crux/worktrees/free")).toBe(true);
});

test("oldestUsed() is the setting before the last check, a week if there is none, and nothing where it is 0", () => {
  const dir = mkdtempSync(join(tmpdir(), "crux-oldest-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const [at, now] = [100 * DAY_MS, 101 * DAY_MS];
  const after = (name: string, settings: object) => {
    oldestUsed(join(dir, name), at, settings);
    return oldestUsed(join(dir, name), now, settings);
  };
  expect(after("a", {})).toBe(at - 7 * DAY_MS);
  expect(after("b", { worktree: { sweepAfterDays: 30 } })).toBe(at - 30 * DAY_MS);
  expect(after("c", { worktree: { sweepAfterDays: 0 } })).toBe(0);
});
