import { expect, test } from "vitest";
import { EXIT, type ExitStatus } from "../abi/process.ts";
import type { Journal } from "../kernel/ports/journal.ts";
import { Ending } from "../kernel/process/life/ending.ts";
import type { Process } from "../kernel/process/process.ts";
import { lastExits } from "./comeback.ts";
import { wasOrdered } from "./crash-report.ts";

const OWN: ExitStatus = { code: 9, reason: "exit 9", kind: "fault" };
const SEGV: ExitStatus = { code: 139, reason: "killed: SIGSEGV", kind: "killed" };

const ROWS: [string, ExitStatus | null, ExitStatus, boolean][] = [
  ["a TERM that its program handled", EXIT.sigterm, OWN, true],
  ["a KILL", EXIT.sigkill, EXIT.sigkill, true],
  ["a deadline", EXIT.timeout, EXIT.timeout, false],
  ["its own failure", null, OWN, false],
  ["a crash of its program", null, SEGV, false],
  ["a TERM of the host", null, EXIT.sigterm, true],
];

test.each(ROWS)("wasOrdered() of an end by %s", (_what, verdict, exit, isOrdered) => {
  const ending = new Ending();
  if (verdict !== null) ending.decide(verdict);
  expect(wasOrdered({ ending } as Process, exit)).toBe(isOrdered);
});

const LEFT: [string, number | undefined, ExitStatus, boolean][] = [
  ["TERM, with an exit of its own", 1, OWN, true],
  ["INT, with an exit of its own", 3, OWN, false],
  ["INT", 3, EXIT.sigint, true],
  ["nothing", undefined, OWN, false],
];

test.each(LEFT)("lastExits() of a program that ended after %s", async (_what, signal, exit, isOrdered) => {
  const run = { pid: 7, uuid: "u", at: 0 };
  const signalled = signal === undefined ? [] : [{ kind: "signal", body: { signal } }];
  const journal = {
    row: async () => ({ kind: "native", exit, lastSeq: 3, lastAt: 5 }),
    read: async () => [...signalled, { kind: "process.exited", body: exit, at: 5 }],
    rows: async () => [{ lastAt: 5 }],
  } as unknown as Journal;
  const left = { children: [{ id: "a", run, isRunning: true }] } as unknown as Parameters<
    typeof lastExits
  >[1];
  expect((await lastExits(journal, left)).exits.get("a")).toEqual({ exit, isOrdered, at: 5 });
});
