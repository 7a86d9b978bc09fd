import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { PID_KERNEL } from "../../../abi/ids.ts";
import { EXIT, type ProcessState } from "../../../abi/process.ts";
import { testKernel } from "../../testing/test-kernel.ts";
import { Process } from "../process.ts";
import { infoOf } from "../process-info.ts";
import type { ProcessSeed } from "../process-seed.ts";
import type { Life } from "./life.ts";

type Case = Life["is"];

/** From which cases a step leads where; every other case refuses it. A step without an entry leaves the case as it is. */
const LEADS = {
  start: { created: "running", resting: "resting" },
  finish: {
    running: "finishing",
    resting: "finishing",
    finishing: "finishing",
    zombie: "zombie",
    dead: "dead",
  },
  exited: { finishing: "zombie" },
  reap: { zombie: "zombie", dead: "dead" },
  bury: { zombie: "dead" },
  rest: {
    created: "resting",
    running: "resting",
    resting: "resting",
    finishing: "finishing",
    zombie: "zombie",
    dead: "dead",
  },
} as const satisfies Record<string, Partial<Record<Case, Case>>>;
const QUIET = ["close", "act", "hurry", "pause", "resume", "stall", "unstall"] as const;
const STEPS = [...(Object.keys(LEADS) as (keyof typeof LEADS)[]), ...QUIET];
type Step = (typeof STEPS)[number];

const SHOWN: Readonly<Partial<Record<Case, ProcessState>>> = {
  finishing: "running",
  zombie: "zombie",
  dead: "dead",
};
const never = (): Promise<void> => new Promise(() => {});

function take(proc: Process, step: Step, mono: number): unknown {
  const { life, halt } = proc;
  switch (step) {
    case "start":
      return proc.start(mono);
    case "finish":
      return life.finish(never);
    case "exited":
      return life.exited(EXIT.completed, mono);
    case "reap":
      return life.reap(never);
    case "act":
      return life.act("tool");
    case "pause":
    case "resume":
      return proc[step](mono);
    case "stall":
    case "unstall":
      return halt[step](mono);
    default:
      return life[step]();
  }
}

/** One that was cut off while it was made has no program that could end; one that nobody reaps is not dead. */
function isRefused(life: Life, step: Step): boolean {
  if (!(step in LEADS)) return false;
  if (life.is === "resting") {
    if (step === "start") return life.was.is !== "created";
    if (step === "finish") return life.was.is !== "running";
  }
  if (life.is === "zombie" && step === "bury") return life.reaping === null;
  return !(life.is in LEADS[step as keyof typeof LEADS]);
}

function checkLaws(proc: Process, mono: number): void {
  const { life, halt } = proc;
  const { now } = life;
  const info = infoOf(proc, new Set(), mono);
  expect(life.isLive).toBe(now.is !== "zombie" && now.is !== "dead");
  expect([life.exit === null, info.exit === null]).toEqual([life.isLive, life.isLive]);
  expect([info.activity !== null && !life.isLive, info.held !== undefined && !life.isLive]).toEqual([
    false,
    false,
  ]);
  if (!life.isHere) expect(life.isClosed).toBe(true);
  if (life.isLive && halt.why !== null) expect([info.activity, info.held]).toEqual(["paused", halt.why]);
  expect(life.hasFinished).toBe(now.is === "finishing" || !life.isLive);
  expect(proc.state).toBe(now.is === "resting" ? now.was.is : (SHOWN[now.is] ?? now.is));
}

describe("LifeCycle", () => {
  let seed: ProcessSeed;
  beforeAll(() => {
    seed = testKernel().kernel.root.seed;
  });

  test("any order of steps keeps its laws; a step that its case does not have is INTERNAL and changes nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STEPS), { maxLength: 30 }), (steps) => {
        const proc = new Process(seed, PID_KERNEL);
        const heard: boolean[] = [];
        proc.work.watch((isWorking) => heard.push(isWorking));
        for (const [mono, step] of steps.entries()) {
          const before = proc.life.now;
          if (isRefused(before, step)) {
            expect(() => take(proc, step, mono)).toThrow(/^illegal transition: /);
            expect(proc.life.now).toBe(before);
          } else {
            take(proc, step, mono);
            const leads: Partial<Record<Case, Case>> = LEADS[step as keyof typeof LEADS] ?? {};
            expect(proc.life.now.is).toBe(leads[before.is] ?? before.is);
          }
          checkLaws(proc, mono);
        }
        expect(heard.every((is, n) => n === 0 || is !== heard[n - 1])).toBe(true);
        const { is } = proc.life.now;
        expect(heard.at(-1)).toBe((is === "running" || is === "finishing") && proc.halt.why === null);
      }),
      { numRuns: 5_000 },
    );
  });

  test("finish() and reap() act once, whoever comes first", async () => {
    const proc = new Process(seed, PID_KERNEL);
    proc.start(0);
    const acts: string[] = [];
    const act = (name: string) => async (): Promise<void> => void acts.push(name);
    const { life } = proc;
    expect(life.finish(act("finish"))).toBe(life.finish(act("finish again")));
    life.exited(EXIT.completed, 1);
    expect(life.reap(act("reap"))).toBe(life.reap(act("reap again")));
    life.bury();
    await Promise.all([life.finish(act("late")), life.reap(act("late"))]);
    expect(acts).toEqual(["finish", "reap"]);
  });

  test("hurry() ends the wait of an exit, and of nothing else", () => {
    const proc = new Process(seed, PID_KERNEL);
    proc.start(0);
    proc.life.hurry();
    let hurried: AbortSignal | undefined;
    void proc.life.finish(async (signal) => {
      hurried = signal;
    });
    expect(hurried?.aborted).toBe(false);
    proc.life.hurry();
    expect(hurried?.aborted).toBe(true);
  });
});
