import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ComposePipe, ComposeProject, ComposeService } from "../../abi/compose/compose.ts";
import {
  idOf,
  planChange,
  type Standing,
  seatsOf,
  signatureOf,
  startOrder,
  withDependencies,
} from "./change.ts";

const NAMES = ["a", "b", "c", "d", "e"];

function service(name: string, more: Partial<ComposeService> = {}): ComposeService {
  return {
    name,
    program: { kind: "agent", agent: "none", intent: name },
    maxSteps: 0,
    timeoutMs: 0,
    cwd: "/desk",
    env: {},
    budgetTokens: 0,
    dependsOn: {},
    restart: "temporary",
    replicas: 1,
    shutdownMs: 5_000,
    ...more,
  };
}

function project(services: readonly ComposeService[], pipes: readonly ComposePipe[] = []): ComposeProject {
  const backoff = { initialMs: 1, factor: 1, maxMs: 1, jitter: 0 };
  return {
    name: "p",
    budgetTokens: 0,
    intensity: { maxRestarts: 1, windowMs: 1 },
    backoff,
    services,
    pipes,
    messages: true,
  };
}

const pipe = (from: string, to: string): ComposePipe => ({ from, to, stream: "result" });

function standingOf(running: ComposeProject, idle: readonly string[] = []): Map<string, Standing> {
  return new Map(
    running.services.map((one) => {
      const ids = seatsOf(one).map(idOf);
      return [
        one.name,
        { signature: signatureOf(one, running), ids, idle: ids.filter((id) => idle.includes(id)) },
      ];
    }),
  );
}

const all = (wanted: ComposeProject) => new Set(wanted.services.map(({ name }) => name));

describe("planChange()", () => {
  test("the same file: nothing, in whatever order its keys stand", () => {
    const running = project([service("a", { env: { X: "1", Y: "2" } }), service("b")]);
    const wanted = project([service("b"), service("a", { env: { Y: "2", X: "1" } })]);
    expect(
      planChange(standingOf(running), wanted, { selected: all(wanted), removeOrphans: true }),
    ).toMatchObject({
      leave: [],
      start: [],
      stop: [],
    });
  });

  test("new, changed, idle and gone", () => {
    const running = project([
      service("a"),
      service("b", { replicas: 2 }),
      service("c", { replicas: 2 }),
      service("d"),
    ]);
    const wanted = project([
      service("a"),
      service("b", { replicas: 3 }),
      service("c", { replicas: 2 }),
      service("e"),
    ]);
    const change = planChange(standingOf(running, ["c-2"]), wanted, {
      selected: all(wanted),
      removeOrphans: true,
    });
    expect(change.start.map(idOf)).toEqual(["b-1", "b-2", "b-3", "c-2", "e-1"]);
    expect([...change.leave].sort()).toEqual(["b-1", "b-2", "c-2", "d-1"]);
    expect(change.stop).toEqual(["d"]);
    expect(
      planChange(standingOf(running), wanted, { selected: all(wanted), removeOrphans: false }),
    ).toMatchObject({ stop: [] });
  });

  test("what was not asked for stays as it is, changed or not", () => {
    const running = project([service("a"), service("b")]);
    const wanted = project([service("a", { maxSteps: 1 }), service("b", { maxSteps: 1 }), service("c")]);
    const change = planChange(standingOf(running), wanted, { selected: new Set(["b"]), removeOrphans: true });
    expect([change.start.map(idOf), change.leave]).toEqual([["b-1"], ["b-1"]]);
  });

  test("a reader that starts alone keeps its pipe", () => {
    const pipes = [pipe("a", "b")];
    const running = project([service("a"), service("b")], pipes);
    const wanted = project([service("a"), service("b", { maxSteps: 1 })], pipes);
    const change = planChange(standingOf(running), wanted, { selected: all(wanted), removeOrphans: false });
    expect([change.start.map(idOf), [...change.fresh]]).toEqual([["b-1"], []]);
  });

  test("laws of pipes: a fresh one has all its writers and its reader started, and only it", () => {
    const name = fc.constantFrom(...NAMES);
    // the data flows from an earlier letter to a later one, as files that are valid have it
    const pipes = fc
      .array(fc.tuple(name, name), { maxLength: 6 })
      .map((pairs) => pairs.filter(([from, to]) => from < to).map(([from, to]) => pipe(from, to)));
    const input = fc.record({
      pipes,
      changed: fc.subarray(NAMES),
      idle: fc.subarray(NAMES.map((one) => `${one}-1`)),
      selected: fc.subarray(NAMES),
    });
    fc.assert(
      fc.property(input, (given) => {
        const running = project(
          NAMES.map((one) => service(one)),
          given.pipes,
        );
        const wanted = project(
          NAMES.map((one) => service(one, given.changed.includes(one) ? { maxSteps: 1 } : {})),
          given.pipes,
        );
        const standing = standingOf(running, given.idle);
        const change = planChange(standing, wanted, {
          selected: new Set(given.selected),
          removeOrphans: false,
        });
        const starting = new Set(change.start.map((seat) => seat.service.name));
        for (const one of given.selected)
          if (given.changed.includes(one) || given.idle.includes(`${one}-1`)) expect(starting).toContain(one);
        for (const { from, to } of given.pipes) {
          expect(change.fresh.has(to) || !starting.has(from)).toBe(true);
          if (change.fresh.has(to)) expect([starting.has(from), starting.has(to)]).toEqual([true, true]);
        }
        for (const to of change.fresh) expect(given.pipes.some((each) => each.to === to)).toBe(true);
        // nobody starts without a reason: its own, or a pipe's
        for (const one of starting) {
          const own =
            given.selected.includes(one) && (given.changed.includes(one) || given.idle.includes(`${one}-1`));
          const piped = given.pipes.some(
            ({ from, to }) => (from === one || to === one) && change.fresh.has(to),
          );
          expect(own || piped).toBe(true);
        }
        expect([...change.leave].sort()).toEqual(change.start.map(idOf).sort());
      }),
      { numRuns: 10_000 },
    );
  });
});

test("startOrder() puts each after what it depends on, else leaves them as they are", () => {
  const services = [
    service("e", { dependsOn: { c: "started" } }),
    service("a"),
    service("c", { dependsOn: { b: "ready", gone: "started" } }),
    service("b"),
  ];
  expect(startOrder(services)).toEqual(["b", "c", "e", "a"]);
});

test("withDependencies() takes in all below, and says what is not there", () => {
  const wanted = project([
    service("a", { dependsOn: { b: "started" } }),
    service("b", { dependsOn: { c: "started" } }),
    service("c"),
    service("d"),
  ]);
  const unknown = (name: string): never => {
    throw new Error(name);
  };
  expect([...withDependencies(wanted, ["a"], unknown)].sort()).toEqual(["a", "b", "c"]);
  expect(withDependencies(wanted, [], unknown).size).toBe(4);
  expect(() => withDependencies(wanted, ["x"], unknown)).toThrow("x");
});
