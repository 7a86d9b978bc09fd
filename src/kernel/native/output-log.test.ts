import { expect, test } from "vitest";
import { Redactor } from "../../lib/redact/redact.ts";
import { LIMITS } from "../limits.ts";
import type { Spool } from "../ports/spools.ts";

import { MemorySpools } from "../testing/memory-spools.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { completeLogs } from "./late-log.ts";
import { OutputLog } from "./output-log.ts";

const PART = 64 * 1024;
const MUCH = LIMITS.logTailBytes;
const SECRET = "planted-0815-and-some-more";

/** So many bytes: of an open line the end would be held back. */
const line = (letter: string, bytes: number): string => `${letter.repeat(bytes - 1)}\n`;

function opened(canWait = true) {
  const [spools, clock] = [new MemorySpools(), new VirtualClock()];
  const redactor = new Redactor(new Uint8Array(32));
  redactor.learn([SECRET]);
  const log = spools.open("a.log", "drop");
  const kept = { stdout: spools.open("a.out", "drop"), stderr: spools.open("a.err", "drop") };
  const made = new OutputLog({ log, redactor, clock });
  if (canWait) made.mayWait(kept);
  const print = (text: string, stream: "stdout" | "stderr" = "stdout"): void => {
    const from = kept[stream].bytes;
    kept[stream].write(Buffer.from(text));
    made.take(stream, Buffer.from(text), from);
  };
  const printMuch = (letter: string, bytes = MUCH): void => {
    for (let at = 0; at < bytes; at += PART) print(line(letter, Math.min(PART, bytes - at)));
  };
  return { log, kept, made, print, printMuch, clock, spools, redactor };
}

async function textOf(log: Spool): Promise<string> {
  const reader = log.reader(0);
  const bytes = reader.available === 0 ? [] : await reader.read(1 << 30, AbortSignal.timeout(60_000));
  reader.close();
  return Buffer.from(bytes).toString();
}

test("what is little is in the log at once, of both streams in order, without secrets", () => {
  const { log, print } = opened();
  print("out\n");
  print(`err ${SECRET}\n`, "stderr");
  print("out again\n");
  expect(log.bytes).toBe("out\nerr [redacted:known:000000]\nout again\n".length);
});

test("much waits for a second, for a reader or for the end, and is complete up to what a reader is given", async () => {
  const { log, made, print, printMuch, clock } = opened();
  printMuch("a");
  expect(log.bytes).toBe(MUCH);
  print("b\n");
  print(`c ${SECRET}\n`, "stderr");
  print("d\n");
  expect(log.bytes).toBe(MUCH);
  expect((await textOf(log)).slice(MUCH)).toMatch(/^b\nc \[redacted:known:\w{6}\]\nd\n$/);
  print("e\n");
  await clock.advance(1_000);
  expect((await textOf(log)).endsWith("d\ne\n")).toBe(true);
  // little has come in that second: the next is written at once
  const before = log.bytes;
  print("f\n");
  expect(log.bytes).toBe(before + 2);
  printMuch("g");
  print("h\n");
  made.end();
  expect((await textOf(log)).endsWith("g\nh\n")).toBe(true);
});

test("of more than a reader is given the first part is left out, which is said", async () => {
  const { log, print, printMuch, clock } = opened();
  printMuch("a");
  printMuch("b", 3 * MUCH);
  print("c\n", "stderr");
  await clock.advance(1_000);
  const words = (await textOf(log)).slice(MUCH);
  const [, told = "", ...rest] = words.split("\n");
  expect(told).toBe(`[${2 * MUCH + 2} bytes of stdout are left out here]`);
  const wanted = `${line("b", PART)
    .repeat(MUCH / PART)
    .slice(2)}c\n`;
  const got = rest.join("\n");
  // as much more as may be the beginning of a secret
  expect([got.endsWith(wanted), got.length - wanted.length <= 16]).toEqual([true, true]);
  // so much in a second: the next waits too
  const before = log.bytes;
  print("d\n");
  expect(log.bytes).toBe(before);
});

test("a secret of which the beginning is left out is no less a secret", async () => {
  const { log, made, print, printMuch } = opened();
  printMuch("a");
  printMuch("b");
  print(SECRET);
  print(`\n${"c".repeat(PART - 1)}`);
  printMuch("c", MUCH - PART - 10);
  made.end();
  const text = await textOf(log);
  expect(text).toContain("are left out here]");
  for (let n = 4; n < SECRET.length; n++) expect(text).not.toContain(SECRET.slice(n - 4, n));
});

test("while somebody reads it, and where the streams are not kept, everything is in the log at once", async () => {
  const { log, print, printMuch } = opened();
  printMuch("a");
  print("b\n");
  const reader = log.reader(0);
  printMuch("c", 3 * MUCH);
  expect(log.bytes).toBe(4 * MUCH + 2);
  reader.close();
  const other = opened(false);
  other.printMuch("a", 3 * MUCH);
  expect(other.log.bytes).toBe(3 * MUCH);
});

test("what waits when its daemon dies is in the log of the next one, without secrets across the seam", async () => {
  for (const [cut, more] of [
    [0, ""],
    [8, ""],
    [SECRET.length - 1, "and more\n"],
  ] as const) {
    const { log, print, printMuch, spools, redactor } = opened();
    printMuch("a", MUCH - PART);
    print(`${line("a", PART - cut)}${SECRET.slice(0, cut)}`);
    print(`${SECRET.slice(cut)}\nb\n`);
    print("c\n", "stderr");
    print(more);
    // it dies
    log.beforeRead = undefined;
    const before = await textOf(log);
    expect(before).not.toContain("b\n");
    await completeLogs({ spools, redactor });
    const text = await textOf(log);
    expect(text.startsWith(before)).toBe(true);
    const whole = new RegExp(`a\\n\\[redacted:known:\\w{6}\\]\\nb\\n${more}c\\n$`);
    expect(text.slice(-200)).toMatch(whole);
    expect(spools.unfinished()).toEqual([]);
  }
});

test("where a secret is not known any more, the next daemon leaves out what waited, and says so", async () => {
  const { log, print, printMuch, spools } = opened();
  printMuch("a");
  print(`${SECRET}\n`);
  log.beforeRead = undefined;
  const other = new Redactor(new Uint8Array(32));
  await completeLogs({ spools, redactor: other });
  expect((await textOf(log)).slice(MUCH)).toBe(
    `\n[${SECRET.length + 1} bytes of stdout are left out here]\n`,
  );
});

test("of more than a reader is given, the next daemon too leaves out the first part; what is written needs no note", async () => {
  const { log, made, printMuch, spools, redactor, clock } = opened();
  printMuch("a");
  printMuch("b", 3 * MUCH);
  const { beforeRead } = log;
  log.beforeRead = undefined;
  await completeLogs({ spools, redactor });
  const words = (await textOf(log)).slice(MUCH);
  log.beforeRead = beforeRead;
  expect(words).toMatch(new RegExp(`^\\n\\[${2 * MUCH} bytes of stdout are left out here\\]\\nb`));
  expect(words.endsWith(line("b", PART))).toBe(true);
  await clock.advance(1_000);
  expect(spools.unfinished()).toEqual([]);
  printMuch("d");
  expect(spools.unfinished()).toHaveLength(1);
  made.end();
  expect(spools.unfinished()).toEqual([]);
});
