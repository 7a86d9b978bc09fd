/** A supervisor whose daemon dies decides as one whose children all died at that moment, and that lived on. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Pid, ProcUuid } from "../abi/ids.ts";
import { EXIT, type ExitStatus } from "../abi/process.ts";
import type { CrashReport, Restart, Strategy } from "../abi/supervise.ts";
import { History } from "../history/recover/history.ts";
import { Facts } from "../kernel/facts/facet.ts";
import type { JournalRecord } from "../kernel/ports/journal.ts";
import { Daemon } from "../kernel/testing/daemons.ts";
import { supervisorFacet } from "./record/facet.ts";
import { type KeptSupervisor, newChild, type SupervisorChange } from "./record/kept-supervisor.ts";
import { CRASH } from "./testing.ts";

const DELAY_MS = 100;
const IDS = ["a", "b", "c", "d"] as const;

const move = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("exit" as const), which: fc.nat(3), ok: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.constantFrom(1, 99, 100, 500, 1_000, 5_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("die" as const), goneMs: fc.constantFrom(0, 300, 2_000) }),
  },
);
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

const scenario = fc.record({
  strategy: fc.constantFrom<Strategy>("one_for_one", "one_for_all", "rest_for_one"),
  kinds: fc.array(fc.constantFrom<Restart>("permanent", "transient", "temporary"), {
    minLength: 1,
    maxLength: 4,
  }),
  maxRestarts: fc.nat(3),
  windowMs: fc.constantFrom(1_000, 5_000),
  moves: fc.array(move, { maxLength: 12 }),
});

/** One of the two: `dies` says what becomes of its daemon. */
class Story {
  daemon = new Daemon();
  readonly #dies: boolean;
  #pid: Pid = 0 as Pid;

  constructor(dies: boolean) {
    this.#dies = dies;
  }

  async begin({
    strategy,
    kinds,
    maxRestarts,
    windowMs,
  }: Omit<typeof scenario extends fc.Arbitrary<infer T> ? T : never, "moves">) {
    const children = kinds.map((restart, at) => this.daemon.child(IDS[at] as string, { restart }));
    const backoff = { initialMs: DELAY_MS, factor: 1, maxMs: DELAY_MS, jitter: 0 };
    this.#pid = await this.daemon.start(children, {
      strategy,
      intensity: { maxRestarts, windowMs },
      backoff,
    });
  }

  async make(move: Move): Promise<void> {
    const { t, workers } = this.daemon;
    if (move.kind === "pass") await t.clock.advance(move.ms);
    else if (move.kind === "exit") {
      const id = IDS[move.which] as string;
      await workers.end(id, move.ok ? EXIT.completed : CRASH);
    } else await this.#die(move.goneMs);
  }

  /** The time without a daemon is time without a supervisor: whoever lives on has nothing to do in it. */
  async #die(goneMs: number): Promise<void> {
    const { t, workers } = this.daemon;
    await t.clock.advance(DELAY_MS);
    await t.journal.sync();
    if (this.#dies) this.daemon = await this.daemon.next(goneMs);
    else {
      const alive = workers.alive;
      await t.clock.advance(goneMs);
      for (const id of alive) await workers.end(id, EXIT.lost);
    }
    await this.daemon.t.clock.advance(DELAY_MS);
  }

  get decided(): readonly unknown[] {
    const told = this.daemon.t.journal.bodies("supervisor.crash") as unknown as CrashReport[];
    return told
      .filter(({ decision }) => decision !== "none")
      .map(({ child, exit, decision, restarts, delayMs }) => ({
        child,
        reason: exit.reason,
        decision,
        restarts,
        delayMs,
      }));
  }

  get state(): string {
    const { t } = this.daemon;
    return t.kernel.supervisors.has(this.#pid)
      ? `${this.daemon.states(this.#pid)} ${this.daemon.workers.alive}`
      : "ended";
  }

  end(): Promise<void> {
    return this.daemon.expectNothingLeft(this.#pid);
  }
}

describe("a supervisor that was restored", () => {
  test("decides as one that never died: strategies, kinds, exits, deaths and times", async () => {
    const seen = { restart: 0, drop: 0, escalate: 0 };
    await fc.assert(
      fc.asyncProperty(scenario, async ({ moves, ...rules }) => {
        const [mortal, immortal] = [new Story(true), new Story(false)];
        await mortal.begin(rules);
        await immortal.begin(rules);
        for (const each of moves) {
          await mortal.make(each);
          await immortal.make(each);
          expect(mortal.decided).toEqual(immortal.decided);
          expect(mortal.state).toBe(immortal.state);
        }
        for (const one of mortal.decided as CrashReport[]) seen[one.decision as "drop"]++;
        await mortal.end();
        await immortal.end();
      }),
      { numRuns: 120, seed: 20_261_127 },
    );
    // the scenarios reach what they are about
    expect(Math.min(seen.restart, seen.drop, seen.escalate)).toBeGreaterThan(10);
  });
});

const child = fc.constantFrom("a", "b", "c", "gone");
const exit = fc.constantFrom<ExitStatus>(EXIT.completed, CRASH, EXIT.lost);
const record = fc.oneof(
  fc
    .record({ child, state: fc.constantFrom("stopped" as const, "waiting" as const, "done" as const) })
    .map(change),
  fc.record({ child, used: fc.nat(1_000) }).map(change),
  fc.record({ child, ready: fc.constant(true as const) }).map(change),
  fc.record({ child, pid: fc.integer({ min: 1, max: 9 }) }).map(({ child: id, pid }) => change(ran(id, pid))),
  fc
    .record({
      child,
      pid: fc.integer({ min: 1, max: 9 }),
      exit,
      decision: fc.constantFrom("none", "drop", "restart"),
      at: fc.nat(10_000),
    })
    .map((crash) => ({ kind: "supervisor.crash" as const, body: { ...crash, ...CRASHED } })),
);

const CRASHED = { supervisor: "shop", cause: "", restarts: 1, delayMs: 5, row: 1, ranMs: 3, used: 7 };

function change(body: object) {
  return { kind: "process.checkpoint" as const, body };
}

function ran(id: string, pid: number): SupervisorChange {
  const run = { pid: pid as Pid, uuid: `u${pid}` as never, at: pid };
  return { child: id, run, endowment: { limit: 0, used: 0, mode: null, agent: null } };
}

function empty(): KeptSupervisor {
  const endowment = { limit: null, used: 0, mode: null, agent: null };
  return {
    supervisor: 1,
    accounts: [],
    roots: [],
    onParentExit: "reparent",
    session: null,
    rights: "person",
    nestedAs: null,
    project: null,
    isOpen: true,
    ending: null,
    window: [],
    children: ["a", "b", "c"].map((id) => newChild(id, "stopped", endowment)),
  };
}

/** What they come to, one after another. */
class Folding {
  readonly facts = new Facts();

  constructor(from: KeptSupervisor) {
    this.facts.change(supervisorFacet, "process.state", from);
  }

  take(kind: "process.checkpoint" | "supervisor.crash", body: object): void {
    this.facts.change(supervisorFacet, kind, body);
  }

  get fold() {
    return this.facts.of(supervisorFacet);
  }
}

const UUID = "00000000-0000-0000-0000-000000000001" as ProcUuid;

function recordOf(kind: JournalRecord["kind"], body: object, v = 1): JournalRecord {
  return { kind, body, v, lsn: 9, seq: 9, at: 0, proc: UUID, pid: 1 as Pid } as JournalRecord;
}

test("supervisorFacet: a whole state written at any moment stands for all records before it", () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 30 }), fc.nat(30), (records, at) => {
      const read = (from: KeptSupervisor, some: typeof records): KeptSupervisor => {
        const folding = new Folding(from);
        for (const { kind, body } of some) folding.take(kind, body);
        return JSON.parse(JSON.stringify(folding.fold?.kept)) as KeptSupervisor;
      };
      expect(read(read(empty(), records.slice(0, at)), records.slice(at))).toEqual(read(empty(), records));
    }),
    { numRuns: 2_000 },
  );
});

test("supervisorFacet: a snapshot stands for all records before it", () => {
  const bodies: readonly object[] = [ran("a", 3), { child: "a", used: 7 }, { child: "b", state: "done" }];
  const whole = new History(UUID);
  whole.take(recordOf("process.state", empty()));
  const halves = [1, 2, 3].map((at) => {
    for (const body of bodies.slice(at - 1, at)) whole.take(recordOf("process.checkpoint", body));
    const rest = History.from(UUID, JSON.parse(JSON.stringify(whole.state)));
    for (const body of bodies.slice(at)) rest.take(recordOf("process.checkpoint", body));
    return rest;
  });
  for (const half of halves) expect(half.of(supervisorFacet)?.kept).toEqual(whole.of(supervisorFacet)?.kept);
});

test("supervisorFacet: an exit that is told for an earlier run leaves the newer one running", () => {
  const folding = new Folding(empty());
  folding.take("process.checkpoint", ran("a", 3));
  folding.take("process.checkpoint", ran("a", 4));
  const crash = { child: "a", pid: 3 as Pid, exit: CRASH, decision: "none", at: 1, ...CRASHED };
  folding.take("supervisor.crash", crash);
  expect(folding.fold?.find("a")).toMatchObject({ isRunning: true, run: { pid: 4 } });
  folding.take("supervisor.crash", { ...crash, pid: 4 as Pid, decision: "restart" });
  expect(folding.fold?.find("a")).toMatchObject({
    isRunning: false,
    state: "restarting",
    restarts: 1,
    nextStartAt: 6,
  });
  expect(folding.fold?.kept.window).toEqual([1]);
});

test("supervisorFacet: a record of another version is refused, not left out", () => {
  const history = new History(UUID);
  history.take(recordOf("process.state", empty()));
  expect(() => history.take(recordOf("process.checkpoint", {}, 2))).toThrow(/record 9 .* version 2/);
  expect(() => history.take(recordOf("supervisor.crash", { omitted: "too large" }))).toThrow(/too large/);
  history.take(recordOf("process.reaped", {}, 7));
});
