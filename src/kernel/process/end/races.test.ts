/** Spawns, ends, signals, waits and reaps in any order: no illegal transition, one exit each, nothing left. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { asPid, type Pid } from "../../../abi/ids.ts";
import { EXIT, type Signal } from "../../../abi/process.ts";
import type { MemoryJournal } from "../../testing/memory-journal.ts";
import { NOTHING_LEFT, type Started, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

const move = fc.oneof(
  fc.record({ kind: fc.constant("start" as const), parent: fc.nat(9), stubborn: fc.boolean() }),
  fc.record({ kind: fc.constantFrom("end", "wait", "reap", "exit"), which: fc.nat(9) }),
  fc.record({ kind: fc.constant("kill" as const), which: fc.nat(9), signal: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(0, 1, 5_000, 60_000) }),
  fc.record({ kind: fc.constantFrom("stall", "flow") }),
);
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;

const EXPECTED = new Set(["NOT_FOUND", "CONFLICT", "CANCELLED", "UNAVAILABLE"]);

async function play(moves: readonly Move[]): Promise<void> {
  const t = testKernel();
  const started: Started[] = [];
  const unexpected: unknown[] = [];
  const later = (call: Promise<unknown>): void => {
    call.catch((error: { code?: string }) => {
      if (!EXPECTED.has(error.code ?? "")) unexpected.push(error);
    });
  };
  const pidOf = (n: number): Pid => asPid(n + 1);
  let flow = (): void => {};
  for (const step of moves) {
    const one = "which" in step ? started[step.which] : undefined;
    if (step.kind === "start") {
      const by = "parent" in step ? started[step.parent] : undefined;
      const stubborn = "stubborn" in step && step.stubborn;
      const made = t.start(by === undefined ? { stubborn } : { stubborn, by: by.sys });
      later(made.then((process) => started.push(process)));
    } else if (step.kind === "end") one?.end();
    else if (step.kind === "exit" && one !== undefined) later(one.sys.exit(3));
    else if (step.kind === "wait" && "which" in step) later(t.init.wait(pidOf(step.which)));
    else if (step.kind === "reap" && "which" in step) later(t.init.reap(pidOf(step.which)));
    else if (step.kind === "kill" && "signal" in step)
      later(t.init.kill(pidOf(step.which), step.signal as Signal));
    else if (step.kind === "pass" && "ms" in step) await t.clock.advance(step.ms);
    else if (step.kind === "stall") {
      flow();
      const gate = Promise.withResolvers<void>();
      t.journal.gate = gate.promise;
      flow = gate.resolve;
    } else if (step.kind === "flow") flow();
  }
  flow();
  t.journal.gate = Promise.resolve();
  const down = t.kernel.shutdown(1_000);
  await t.clock.advance(1_000);
  await t.clock.advance(5_000);
  await down;
  await settle();
  expect(unexpected).toEqual([]);
  expect(t.logs.filter((line) => !line.includes("loop_abandoned"))).toEqual([]);
  // what is paused rests: its folder is there for the next daemon
  await t.journal.sync();
  const resting = (await t.journal.unfinished()).map(({ pid }) => pid);
  expect(t.census()).toEqual({ ...NOTHING_LEFT, scratch: resting.length });
  for (const { pid } of started) {
    const ends = t.journal
      .kinds(pid)
      .filter((kind) => kind === "process.exited" || kind === "process.reaped");
    expect(ends).toEqual(resting.includes(pid) ? [] : ["process.exited", "process.reaped"]);
  }
  await goOn(t.journal, resting);
}

/** The next daemon brings back what rests, and nothing else; it goes on to its end. */
async function goOn(journal: MemoryJournal, resting: readonly Pid[]): Promise<void> {
  const next = testKernel({}, journal);
  const { lost, restored } = await next.kernel.recover();
  expect([lost, restored.map(({ pid }) => pid)]).toEqual([[], resting]);
  for (const pid of resting) {
    expect(next.kernel.info(next.proc(pid))).toMatchObject({ state: "running", activity: "paused" });
    await next.init.kill(pid, 5);
    expect(await next.init.wait(pid)).toEqual(EXIT.completed);
  }
  expect(next.census()).toEqual(NOTHING_LEFT);
}

test("any order of what may happen to processes ends well", async () => {
  const start = { kind: "start", parent: 0, stubborn: false } as const;
  // a child is asked for, its parent is held, and the kernel shuts down, all in one turn
  const heldParent: Move[] = [
    ...Array.from({ length: 6 }, () => start),
    { kind: "pass", ms: 0 },
    { kind: "start", parent: 5, stubborn: true },
    { kind: "kill", which: 5, signal: 4 },
  ];
  const moves = fc.array(move, { maxLength: 40, size: "max" });
  await fc.assert(fc.asyncProperty(moves, play), { numRuns: 150, examples: [[heldParent]] });
});
