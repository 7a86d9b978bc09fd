import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { StatusInput } from "../abi/print/status-line.ts";
import type { ProgramOutput } from "../cli/run/shell-line.ts";
import { en } from "../cli/screen/words/en.ts";
import { StatusLine } from "./status-line.ts";
import { textOf } from "./text/line.ts";
import { themeOf } from "./text/theme.ts";
import type { EntryLook } from "./view/entry-lines.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const look = { theme: themeOf("dark", 16), width: 20, words: en, isUnfolded: false } as EntryLook;
const ok = (stdout: string): ProgramOutput => ({ exit: "0", stdout, stderr: "" });

/** Programs that end when the test says so, and one that is killed at once when it is aborted. */
function bench() {
  const runs: { command: string; end: (output: ProgramOutput) => Promise<void> }[] = [];
  const seen = { alive: 0, most: 0, draws: 0, failed: [] as string[], inputs: [] as string[] };
  const line = new StatusLine({
    input: async () => ({ version: `v${seen.inputs.length}` }) as StatusInput,
    run: ({ command }, input, signal) => {
      seen.inputs.push(input);
      seen.most = Math.max(seen.most, ++seen.alive);
      const { promise, resolve } = Promise.withResolvers<ProgramOutput>();
      const end = async (output: ProgramOutput): Promise<void> => {
        resolve(output);
        await vi.advanceTimersByTimeAsync(0);
      };
      signal.addEventListener("abort", () => void end({ exit: "SIGTERM", stdout: "late", stderr: "" }));
      runs.push({ command, end });
      return promise.finally(() => seen.alive--);
    },
    failed: (words) => seen.failed.push(words),
    changed: () => seen.draws++,
  });
  const shown = (): string[] => line.lines(look).map(textOf);
  const use = (command: string, refreshMs?: number, padding = 0): Promise<unknown> => {
    line.use({ command, isBrought: false, padding, refreshMs });
    return vi.advanceTimersByTimeAsync(0);
  };
  return { line, runs, seen, shown, use };
}

test("a note that goes is drawn at once, also where no program takes its place yet", () => {
  const { line, seen, shown } = bench();
  line.use(undefined, "not trusted");
  expect([shown(), seen.draws]).toEqual([["  not trusted"], 1]);
  line.use(undefined);
  expect([shown(), seen.draws]).toEqual([[], 2]);
});

test("three changes in 300 ms are one run, whose lines are cut, indented, and dimmed where they are not coloured", async () => {
  const { line, runs, seen, shown, use } = bench();
  await use("first", undefined, 2);
  await runs[0]?.end(ok("one\n"));
  for (let n = 0; n < 3; n++) {
    line.soon();
    await vi.advanceTimersByTimeAsync(99);
  }
  expect(runs).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(3);
  expect([runs.length, seen.inputs[1]]).toEqual([2, '{"version":"v1"}']);
  await runs[1]?.end(ok("  \x1b[31mred\x1b[0m and \x1b]52;c;eA==\x07more\n\n  two  \n"));
  expect(shown()).toEqual(["  red and \\x1b]52;c…", "  two"]);
  const [, red, and] = line.lines(look)[0] ?? [];
  expect([red?.style, and?.style]).toEqual(["31", look.theme.dim]);
});

test("an empty output clears, a failure and a killed run leave what was there, and equal text draws nothing", async () => {
  const { line, runs, seen, shown, use } = bench();
  await use("a");
  await runs[0]?.end(ok("kept"));
  const { draws } = seen;
  for (const output of [ok("kept\n"), { exit: "1", stdout: "other", stderr: "" }]) {
    line.soon();
    await vi.advanceTimersByTimeAsync(300);
    await runs.at(-1)?.end(output);
  }
  expect([shown(), seen.draws, seen.failed]).toEqual([["kept"], draws, []]);
  line.soon();
  await vi.advanceTimersByTimeAsync(300);
  await runs.at(-1)?.end(ok(" \n"));
  expect([shown(), seen.draws]).toEqual([[], draws + 1]);
});

test("every second a run that takes three: there is one child at a time, and it never shows", async () => {
  const { runs, seen, shown, use } = bench();
  await use("slow", 1_000);
  for (let n = 0; n < 10; n++) await vi.advanceTimersByTimeAsync(1_000);
  expect([seen.most, runs.length, shown()]).toEqual([1, 11, []]);
});

test("another interval replaces the timer, and 0 ends it", async () => {
  const { line, runs, use } = bench();
  await use("a", 1_000);
  await runs[0]?.end(ok("x"));
  await use("a", 10_000);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(runs).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toHaveLength(2);
  await use("a");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toHaveLength(2);
  line[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
});

test("a changed command runs at once and says why its first run failed; without one there is nothing", async () => {
  const { line, runs, seen, shown, use } = bench();
  await use("a");
  await runs[0]?.end({ exit: "127", stdout: "", stderr: "sh: a: not found\nmore" });
  line.soon();
  await vi.advanceTimersByTimeAsync(300);
  await runs[1]?.end({ exit: "127", stdout: "", stderr: "again" });
  expect(seen.failed).toEqual(["exit 127 sh: a: not found"]);
  await use("b");
  expect(runs.map(({ command }) => command)).toEqual(["a", "a", "b"]);
  await runs[2]?.end(ok("of b"));
  line.use(undefined, "statusline skipped · /trust");
  expect(shown()).toEqual(["  statusline skippe…"]);
  line.saw("other facts");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(runs).toHaveLength(3);
});
