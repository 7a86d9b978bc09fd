/** A disk that stalls and refuses at any moment: every call comes back, and when it is over nothing is held by anybody. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ComposeProject } from "../abi/compose/compose.ts";
import { EXIT, SIGNALS } from "../abi/process.ts";
import type { RecordKind } from "./ports/journal.ts";
import { FakePrograms } from "./testing/fake-programs.ts";
import { bytes, NOTHING_LEFT, type Started, type TestKernel, testKernel } from "./testing/test-kernel.ts";
import { settle } from "./testing/virtual-clock.ts";

const KINDS = [
  "process.spawned",
  "process.exited",
  "process.failed",
  "mail.put",
  "group.join",
  "group.leave",
  "signal",
  "call.intent",
  "process.log",
  "supervisor.crash",
] as const satisfies readonly RecordKind[];

type Step =
  | { readonly act: "refuse"; readonly kind: RecordKind }
  | {
      readonly act: "heal" | "stall" | "start" | "native" | "supervise" | "up" | "down" | "tick";
    }
  | { readonly act: "signal" | "send" | "recv" | "join" | "end" | "wait" | "thread"; readonly at: number };

const simple = ["heal", "stall", "start", "native", "supervise", "up", "down", "tick"] as const;
const aimed = ["signal", "send", "recv", "join", "end", "wait", "thread"] as const;
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 1,
      arbitrary: fc.record({ act: fc.constant("refuse" as const), kind: fc.constantFrom(...KINDS) }),
    },
    { weight: 4, arbitrary: fc.record({ act: fc.constantFrom(...simple) }) },
    { weight: 5, arbitrary: fc.record({ act: fc.constantFrom(...aimed), at: fc.nat(20) }) },
  ),
  { minLength: 4, maxLength: 32, size: "max" },
);

const PROJECT: ComposeProject = {
  name: "notes",
  budgetTokens: 0,
  intensity: { maxRestarts: 2, windowMs: 60_000 },
  backoff: { initialMs: 1_000, factor: 2, maxMs: 30_000, jitter: 0 },
  services: [
    {
      name: "a",
      program: { kind: "native", command: ["a"] },
      maxSteps: 0,
      timeoutMs: 0,
      cwd: "/desk",
      env: {},
      budgetTokens: 0,
      dependsOn: {},
      restart: "permanent",
      replicas: 2,
      shutdownMs: 5_000,
      group: "g",
    },
  ],
  pipes: [],
  messages: true,
};

class Storm {
  readonly programs = new FakePrograms();
  readonly t: TestKernel = testKernel({ exec: this.programs });
  /** Calls that have not come back. */
  readonly open = new Set<string>();
  readonly #started: Started[] = [];
  #calls = 0;
  #go: () => void = () => {};

  async run(all: readonly Step[]): Promise<void> {
    for (const step of all) {
      this.#do(step);
      await settle(2);
    }
    this.#heal();
    await this.t.clock.advance(1);
    for (const { end } of this.#started) end(EXIT.completed);
    for (const proc of [...this.t.kernel.table.all()])
      this.#call("kill", this.t.init.kill(proc.pid, SIGNALS.SIGKILL));
    await this.t.clock.advance(120_000);
    await settle(6);
  }

  #do(step: Step): void {
    const { t } = this;
    const { init, journal, kernel } = t;
    switch (step.act) {
      case "refuse":
        journal.refused.add(step.kind);
        return;
      case "heal":
        this.#heal();
        return;
      case "stall": {
        const gate = Promise.withResolvers<void>();
        const before = this.#go;
        this.#go = () => {
          before();
          gate.resolve();
        };
        journal.gate = gate.promise;
        return;
      }
      case "start":
        this.#call(
          "spawn",
          t.start().then((started) => void this.#started.push(started)),
        );
        return;
      case "native":
        this.#call("native", init.spawn("", null, { command: ["true"] }));
        return;
      case "supervise": {
        const children = [{ id: "x", start: { command: ["x"] } }];
        this.#call("supervise", init.spawnSupervisor({ name: "s", children }));
        return;
      }
      case "up": {
        const request = { project: PROJECT, services: [], removeOrphans: true, env: {} };
        this.#call(
          "up",
          kernel.projects.up(request).then(({ events }) => events.close()),
        );
        return;
      }
      case "down":
        this.#call("down", kernel.projects.down("notes", 1_000));
        return;
      case "tick":
        this.programs.started.at(-1)?.exit(1);
        void t.clock.advance(1_000);
        return;
      default: {
        const target = this.#started[step.at % Math.max(1, this.#started.length)];
        if (target !== undefined) this.#aim(step.act, target, step.at);
      }
    }
  }

  #aim(act: (typeof aimed)[number], { pid, sys, end }: Started, at: number): void {
    const { init } = this.t;
    if (act === "signal") this.#call("signal", init.signal(pid, ((at % 5) + 1) as 1));
    else if (act === "send") this.#call("send", init.send(pid, bytes("hello")));
    else if (act === "recv") this.#call("recv", sys.recv({ timeoutMs: 500 }));
    else if (act === "join") this.#call("join", init.joinGroup(pid, "g"));
    else if (act === "wait") this.#call("wait", init.wait(pid));
    else if (act === "thread")
      this.#call(
        "thread",
        sys.spawnThread("think").then((tid) => sys.joinThread(tid)),
      );
    else end(EXIT.completed);
  }

  /** What it answers does not matter here: that it answers does. */
  #call(name: string, call: Promise<unknown>): void {
    const id = `${name} ${++this.#calls}`;
    this.open.add(id);
    const over = (): void => void this.open.delete(id);
    call.then(over, over);
  }

  #heal(): void {
    this.t.journal.refused.clear();
    this.t.journal.gate = Promise.resolve();
    this.#go();
    this.#go = () => {};
  }
}

test("whatever stalls or is refused, every call comes back and nothing is left", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const storm = new Storm();
      await storm.run(all);
      expect([...storm.open]).toEqual([]);
      expect(storm.t.census()).toEqual(NOTHING_LEFT);
      expect([storm.programs.live, storm.t.kernel.supervisors.size]).toEqual([0, 0]);
      expect(await storm.t.journal.sync().then(() => storm.t.journal.unfinished())).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
});
