/**
 * Whatever comes, in whatever order: exits, kills, calls, pauses, time. A supervisor keeps to its intensity, and at its end
 * nothing of it is left.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DriverError } from "../abi/errors.ts";
import type { Pid } from "../abi/ids.ts";
import { EXIT, type ExitStatus, type Signal } from "../abi/process.ts";
import type { ChildSpec, Restart, Strategy, SupervisorSpec } from "../abi/supervise.ts";
import { NOTHING_LEFT, testKernel } from "../kernel/testing/test-kernel.ts";
import { settle } from "../kernel/testing/virtual-clock.ts";
import { CRASH, Workers } from "./testing.ts";

const INTENSITY = { maxRestarts: 3, windowMs: 5_000 };
const IDS = ["a", "b", "c", "x", "y"] as const;
const which = fc.constantFrom(...IDS);
const exit = fc.constantFrom<ExitStatus>(EXIT.completed, CRASH, EXIT.maxSteps, EXIT.budget);

const move = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("exit" as const), which, exit }) },
  fc.record({ kind: fc.constant("kill" as const), which, signal: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constantFrom("stop", "start", "restart"), which }),
  fc.record({ kind: fc.constantFrom("pause", "resume") }),
  fc.record({ kind: fc.constantFrom("breakModel", "mendModel") }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.constantFrom(0, 1, 100, 1_000, 5_000),
    }),
  },
);
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;

const scenario = fc.record({
  strategies: fc.tuple(
    fc.constantFrom<Strategy>("one_for_one", "one_for_all", "rest_for_one"),
    fc.constantFrom<Strategy>("one_for_one", "one_for_all", "rest_for_one"),
  ),
  kinds: fc.array(fc.constantFrom<Restart>("permanent", "transient", "temporary"), {
    minLength: 6,
    maxLength: 6,
  }),
  stubborn: fc.subarray([...IDS]),
  moves: fc.array(move, { maxLength: 25 }),
  last: fc.constantFrom<Signal>(1, 2, 3),
});

const EXPECTED = new Set(["NOT_FOUND", "CONFLICT", "CANCELLED", "DRIVER"]);

async function play(given: typeof scenario extends fc.Arbitrary<infer S> ? S : never): Promise<void> {
  const t = testKernel();
  const workers = new Workers(t);
  workers.add(...IDS);
  for (const id of given.stubborn) workers.stubborn.add(id);
  const [a, b, c, x, y, inner] = given.kinds as [Restart, Restart, Restart, Restart, Restart, Restart];
  const leaf = (id: string, restart: Restart): ChildSpec => ({
    id,
    start: { intent: id },
    restart,
    shutdown: 500,
  });
  const nested: SupervisorSpec = {
    name: "inner",
    strategy: given.strategies[1],
    intensity: INTENSITY,
    children: [leaf("x", x), leaf("y", y)],
  };
  const pid = await t.init.spawnSupervisor({
    name: "outer",
    strategy: given.strategies[0],
    intensity: INTENSITY,
    children: [
      leaf("a", a),
      leaf("b", b),
      { id: "inner", start: { supervisor: nested }, restart: inner },
      leaf("c", c),
    ],
  });
  const unexpected: unknown[] = [];
  const later = (call: Promise<unknown> | undefined): void => {
    call?.catch((error: { code?: string }) => {
      if (!EXPECTED.has(error.code ?? "")) unexpected.push(error);
    });
  };
  for (const step of given.moves) {
    await act(step);
    await settle(2);
  }
  later(t.init.kill(pid, given.last));
  for (let round = 0; round < 12; round++) {
    for (const id of workers.alive) if (workers.stubborn.has(id)) void workers.end(id);
    await t.clock.advance(5_000);
  }
  await t.clock.advance(60_000);
  await settle();
  expect(unexpected).toEqual([]);
  expect(t.logs.filter((line) => !line.includes("loop_abandoned"))).toEqual([]);
  expect([workers.alive, t.kernel.supervisors.size]).toEqual([[], 0]);
  expect(t.census()).toEqual(NOTHING_LEFT);
  expectWithinIntensity(t.journal.bodies("supervisor.crash") as unknown as Crash[]);

  function controlOf(id: string) {
    const outer = t.kernel.supervisors.get(pid);
    const within = outer?.view().children.find((child) => child.id === "inner")?.pid ?? (0 as Pid);
    return id === "x" || id === "y" ? t.kernel.supervisors.get(within) : outer;
  }

  async function act(step: Move): Promise<void> {
    const id = "which" in step ? step.which : "";
    switch (step.kind) {
      case "exit":
        return workers.end(id, "exit" in step ? step.exit : CRASH);
      case "kill":
        if (workers.alive.includes(id) && "signal" in step)
          later(t.init.kill(workers.pid(id), step.signal as Signal));
        return;
      case "stop":
        return later(controlOf(id)?.stopChild(id));
      case "start":
        return later(controlOf(id)?.startChild(id));
      case "restart":
        return later(controlOf(id)?.restartChild(id));
      case "pause":
        return later(t.init.kill(pid, 4));
      case "resume":
        return later(t.init.kill(pid, 5));
      case "breakModel":
        t.model.script.open = () =>
          Promise.reject(new DriverError({ op: "Open", code: "DRIVER", message: "no model" }));
        return;
      case "mendModel":
        t.model.script.open = async () => {};
        return;
      case "pass":
        await t.clock.advance("ms" in step ? step.ms : 0);
    }
  }
}

interface Crash {
  readonly supervisor: string;
  readonly decision: string;
  readonly at: number;
}

/** The outer one is one process; the inner one is a new one each time, and counts anew. */
function expectWithinIntensity(crashes: readonly Crash[]): void {
  const restarts = crashes.filter((each) => each.supervisor === "outer" && each.decision === "restart");
  for (const { at } of restarts) {
    const within = restarts.filter((each) => each.at <= at && each.at >= at - INTENSITY.windowMs);
    expect(within.length).toBeLessThanOrEqual(INTENSITY.maxRestarts);
  }
}

describe("a supervisor", () => {
  test("keeps to its intensity and leaves nothing, whatever comes", async () => {
    await fc.assert(fc.asyncProperty(scenario, play), { numRuns: 1_000 });
  });
});
