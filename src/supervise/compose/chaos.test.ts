/**
 * A project under whatever comes: exits, kills, calls, another file, time. What it tells is in order, nobody runs whose
 * dependencies do not hold, and at its end nothing is left.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type {
  ComposePipe,
  ComposeProject,
  ComposeService,
  DependsCondition,
  ProjectEvent,
} from "../../abi/compose/compose.ts";
import { DriverError } from "../../abi/errors.ts";
import { EXIT, type ExitStatus, type Signal } from "../../abi/process.ts";
import type { Restart } from "../../abi/supervise.ts";
import { MemorySpools } from "../../kernel/testing/memory-spools.ts";
import { NOTHING_LEFT, testKernel } from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { CRASH, Workers } from "../testing.ts";

const NAMES = ["a", "b", "c", "d", "e"];
const name = fc.constantFrom(...NAMES);
const ENDS: ReadonlySet<ProjectEvent["event"]> = new Set(["done", "failed", "stopped"]);

const move = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("exit" as const),
      name,
      exit: fc.constantFrom<ExitStatus>(EXIT.completed, EXIT.completed, CRASH, EXIT.budget),
    }),
  },
  fc.record({ kind: fc.constant("kill" as const), name, signal: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constantFrom("stop", "start", "restart"), name }),
  fc.record({
    kind: fc.constant("up" as const),
    changed: fc.subarray(NAMES),
    services: fc.subarray(NAMES),
    removeOrphans: fc.boolean(),
  }),
  fc.record({ kind: fc.constantFrom("breakModel", "mendModel") }),
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(0, 100, 1_000, 60_000) }),
  },
);

const scenario = fc.record({
  depends: fc.array(
    fc.tuple(name, name, fc.constantFrom<DependsCondition>("started", "ready", "completed")),
    { maxLength: 6 },
  ),
  pipes: fc.array(fc.tuple(name, name), { maxLength: 3 }),
  kinds: fc.array(fc.constantFrom<Restart>("permanent", "transient", "temporary"), {
    minLength: 5,
    maxLength: 5,
  }),
  twice: fc.subarray(["a", "b"]),
  moves: fc.array(move, { maxLength: 20 }),
  last: fc.constantFrom("down", "kill", "signal"),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer S> ? S : never;

/** Later letters depend on earlier ones, and read from them: no cycle. */
function projectOf({ depends, pipes, kinds, twice }: Scenario, changed: readonly string[]): ComposeProject {
  const services = NAMES.map((each, at): ComposeService => {
    const needs = depends.filter(([from, to]) => to === each && from < to);
    return {
      name: each,
      program: { kind: "agent", agent: "none", intent: each },
      maxSteps: changed.includes(each) ? 1 : 0,
      timeoutMs: 0,
      cwd: "/desk",
      env: {},
      budgetTokens: 0,
      dependsOn: Object.fromEntries(needs.map(([from, , condition]) => [from, condition])),
      ready: { kind: "step", timeoutMs: 5_000 },
      restart: kinds[at] ?? "temporary",
      replicas: twice.includes(each) && !pipes.some(([, to]) => to === each) ? 2 : 1,
      shutdownMs: 500,
    };
  });
  const flows = pipes
    .filter(([from, to]) => from < to)
    .map(([from, to]): ComposePipe => ({ from, to, stream: "result" }));
  const unique = flows.filter(
    (flow, at) => flows.findIndex((f) => f.from === flow.from && f.to === flow.to) === at,
  );
  return {
    name: "p",
    budgetTokens: 0,
    intensity: { maxRestarts: 4, windowMs: 10_000 },
    backoff: { initialMs: 100, factor: 2, maxMs: 1_000, jitter: 0 },
    services,
    pipes: unique,
    messages: true,
  };
}

const EXPECTED = new Set(["NOT_FOUND", "CONFLICT", "CANCELLED", "DRIVER", "UNAVAILABLE"]);

async function play(given: Scenario): Promise<void> {
  const spools = new MemorySpools();
  const t = testKernel({ spools });
  const workers = new Workers(t);
  workers.add(...NAMES);
  const { projects } = t.kernel;
  const unexpected: unknown[] = [];
  const later = (call: Promise<unknown>): void => {
    call.catch((error: { code?: string }) => {
      if (!EXPECTED.has(error.code ?? "")) unexpected.push(error);
    });
  };
  const streams: Promise<ProjectEvent[]>[] = [];
  const up = async (
    changed: readonly string[],
    services: readonly string[],
    removeOrphans: boolean,
  ): Promise<void> => {
    const project = projectOf(given, changed);
    const kept = removeOrphans
      ? project.services.filter((each) => !changed.includes(each.name) || services.includes(each.name))
      : project.services;
    const names = new Set(kept.map((each) => each.name));
    const whole = kept.every((each) => Object.keys(each.dependsOn).every((needed) => names.has(needed)));
    const wanted = whole ? kept : project.services;
    const there = new Set(wanted.map((each) => each.name));
    const pipes = project.pipes.filter(({ from, to }) => there.has(from) && there.has(to));
    const { events } = await projects.up({
      project: { ...project, services: wanted, pipes },
      services: services.filter((each) => there.has(each)),
      removeOrphans,
      env: {},
    });
    streams.push(Array.fromAsync(events));
  };
  await up([], [], false);
  await settle(2);
  for (const step of given.moves) {
    switch (step.kind) {
      case "exit":
        if ("exit" in step) await workers.end(step.name, step.exit);
        break;
      case "kill":
        if ("signal" in step && workers.alive.includes(step.name))
          later(t.init.kill(workers.pid(step.name), step.signal as Signal));
        break;
      case "up":
        if ("changed" in step) later(up(step.changed, step.services, step.removeOrphans));
        break;
      case "breakModel":
        t.model.script.open = () =>
          Promise.reject(new DriverError({ op: "Open", code: "DRIVER", message: "no model" }));
        break;
      case "mendModel":
        t.model.script.open = async () => {};
        break;
      case "pass":
        if ("ms" in step) await t.clock.advance(step.ms);
        break;
      default: {
        const [supervisor] = t.kernel.supervisors.values();
        if (supervisor === undefined || !("name" in step)) break;
        if (step.kind === "stop") later(supervisor.stopChild(`${step.name}-1`));
        if (step.kind === "start") later(supervisor.startChild(`${step.name}-1`));
        if (step.kind === "restart") later(supervisor.restartChild(`${step.name}-1`));
      }
    }
    await settle(2);
  }
  await t.clock.advance(2_000);
  if (given.last === "down") later(projects.down("p", 2_000));
  else if (given.last === "kill") later(projects.kill("p"));
  else for (const pid of t.kernel.supervisors.keys()) later(t.init.kill(pid, 1));
  for (let round = 0; round < 4; round++) await t.clock.advance(5_000);
  await t.clock.advance(60_000);
  await settle();
  expect(unexpected).toEqual([]);
  expect(t.logs).toEqual([]);
  expect([workers.alive, t.kernel.supervisors.size]).toEqual([[], 0]);
  expect(t.census()).toEqual(NOTHING_LEFT);
  expect([...spools.spools.keys()]).toEqual([]);
  const told = await Promise.all(streams);
  for (const events of told) expectInOrder(events);
  const isPlain = given.moves.every(({ kind }) => kind !== "start" && kind !== "restart" && kind !== "up");
  if (isPlain) expectDependenciesHeld(told[0] ?? [], projectOf(given, []));
}

/** It ends once, with the last event; who exits had started, or could not; who has started exits. */
function expectInOrder(events: readonly ProjectEvent[]): void {
  const ends = events.filter(({ event }) => ENDS.has(event));
  expect([ends.length, events.at(-1)]).toEqual([1, ends[0]]);
  const live = new Set<string>();
  for (const each of events) {
    if (each.event === "exited") live.delete(each.child);
    if (each.event !== "started") continue;
    expect(live.has(each.child)).toBe(false);
    live.add(each.child);
  }
  expect([...live]).toEqual([]);
}

/** Where nobody started anything by hand, and the file stayed the same. */
function expectDependenciesHeld(events: readonly ProjectEvent[], { services }: ComposeProject): void {
  const [started, completed] = [new Set<string>(), new Set<string>()];
  const replicas = (of: string): string[] => {
    const found = services.find((each) => each.name === of);
    return Array.from({ length: found?.replicas ?? 0 }, (_, at) => `${of}-${at + 1}`);
  };
  for (const each of events) {
    if (each.event === "exited" && each.code === 0) completed.add(each.child);
    if (each.event !== "started") continue;
    started.add(each.child);
    const service = services.find(({ name: of }) => each.child.startsWith(`${of}-`));
    for (const [needed, condition] of Object.entries(service?.dependsOn ?? {}))
      for (const id of replicas(needed))
        expect(condition === "completed" ? completed : started).toContain(id);
  }
}

test("a project leaves nothing and tells what happens in order, whatever comes", async () => {
  await fc.assert(fc.asyncProperty(scenario, play), { numRuns: 500 });
});
