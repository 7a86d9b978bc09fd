/** Sends, masks, handlers and ends in any order, none waiting for another: no signal is lost, none arrives twice. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Disposition, Signal } from "../../../abi/process.ts";
import { MemoryJournal } from "../../testing/memory-journal.ts";
import { NOTHING_LEFT, type Started, type TestKernel, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

const ACTIONS = ["counts", "counts later", "throws", "ignore", "default"] as const;
type Action = (typeof ACTIONS)[number];

const maskable = fc.constantFrom<Signal>(1, 3, 4, 5);
const by = fc.constantFrom("itself", "the kernel");
const harmless = [
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("block", "unblock"), signal: maskable, by }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("turn") }) },
] as const;
const move = fc.oneof(
  ...harmless,
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("send"), signal: fc.constantFrom<Signal>(1, 3, 4, 5, 4, 5, 2) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("handle"),
      signal: maskable,
      action: fc.constantFrom(...ACTIONS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("exit") }) },
);

interface Move {
  readonly kind: string;
  readonly signal?: Signal;
  readonly by?: string;
  readonly action?: Action;
}

/** What the chapter says, told as simply as it can be. */
class Model {
  readonly blocked = new Set<number>();
  readonly pending = new Set<number>();
  readonly actions = new Map<number, Action>();
  readonly runs = new Map<number, number>();
  paused = false;
  /** The handle is dead: what the process itself still asks for is refused. */
  revoked = false;
  /** It has been told to end: with what. */
  code: number | null = null;
  isOver = false;

  send(signal: number): Disposition {
    if (this.isOver) return "ignored";
    if (signal === 2) return this.byDefault(signal);
    if (this.blocked.has(signal)) {
      this.pending.add(signal);
      return "pending";
    }
    const action = this.actions.get(signal) ?? "default";
    if (action === "default") return this.byDefault(signal);
    if (action === "ignore") return "ignored";
    this.runs.set(signal, (this.runs.get(signal) ?? 0) + 1);
    if (signal !== 4) this.paused = false;
    if (action === "throws") this.byDefault(signal);
    return "handler";
  }

  byDefault(signal: number): Disposition {
    this.paused = signal === 4;
    if (signal === 1) this.code ??= 143;
    if (signal === 3) this.code ??= 130;
    if (signal === 2) {
      this.code = 137;
      this.revoked = true;
      this.isOver = true;
    }
    return "default";
  }

  unblock(signal: number): void {
    this.blocked.delete(signal);
    if (this.pending.delete(signal)) this.send(signal);
  }
}

class Race {
  readonly model = new Model();
  readonly expected: Disposition[] = [];
  readonly found: Promise<Disposition>[] = [];
  readonly runs = new Map<number, number>();
  readonly #t: TestKernel;
  readonly #of: Started;
  readonly #calls: Promise<unknown>[] = [];

  constructor(t: TestKernel, of: Started) {
    this.#t = t;
    this.#of = of;
  }

  async step({ kind, signal = 1, by = "itself", action = "default" }: Move): Promise<void> {
    const { model } = this;
    const { init } = this.#t;
    const { sys, pid } = this.#of;
    const isHeard = by === "the kernel" || !model.revoked;
    if (kind === "send") {
      this.expected.push(model.send(signal));
      this.found.push(init.signal(pid, signal));
    } else if (kind === "block") {
      if (isHeard && !this.hasEnded) model.blocked.add(signal);
      this.#call((by === "itself" ? sys : init).sigBlock(pid, signal));
    } else if (kind === "unblock") {
      if (isHeard) model.unblock(signal);
      this.#call((by === "itself" ? sys : init).sigUnblock(pid, signal));
    } else if (kind === "handle") {
      if (!model.revoked) model.actions.set(signal, action);
      this.#call(sys.sigHandle(signal, this.#actionOf(action)));
    } else if (kind === "exit") {
      if (!model.revoked) model.code ??= 7;
      model.revoked = true;
      this.#call(sys.exit(7));
    } else {
      await settle(1);
      if (model.code !== null) model.isOver = true;
      if (model.code !== null) model.revoked = true;
    }
  }

  /** A zombie takes no more masks; one that is on its way there still does. */
  get hasEnded(): boolean {
    return !this.#of.proc.isLive;
  }

  async check(): Promise<void> {
    const { model } = this;
    const { proc, pid } = this.#of;
    expect(await Promise.all(this.found)).toEqual(this.expected);
    await Promise.all(this.#calls);
    expect(this.runs).toEqual(model.runs);
    if (model.code === null) {
      expect(proc.isPaused).toBe(model.paused);
      const { blocked, pending } = this.#t.kernel.view().signals(pid);
      expect(new Set(blocked)).toEqual(model.blocked);
      expect(new Set(pending)).toEqual(model.pending);
      await this.#t.init.kill(pid, 2);
    }
    expect((await this.#t.init.wait(pid)).code).toBe(model.code ?? 137);
  }

  #call(call: Promise<unknown>): void {
    this.#calls.push(call.catch((error: { code?: string }) => expect(error.code).toBe("CANCELLED")));
  }

  #actionOf(action: Action) {
    if (action === "ignore" || action === "default") return action;
    return (signal: Signal) => {
      this.runs.set(signal, (this.runs.get(signal) ?? 0) + 1);
      if (action === "throws") throw new Error("no");
      return action === "counts later" ? settle(1) : undefined;
    };
  }
}

/** Keeps nothing: what is recorded is not the point here, and would fill memory. */
class Forgetful extends MemoryJournal {
  override note(): void {}
}

async function play(t: TestKernel, moves: readonly Move[]): Promise<void> {
  const started = await t.start();
  const race = new Race(t, started);
  for (const step of moves) {
    const over = race.step(step);
    if (step.kind === "turn") await over;
  }
  await race.check();
  t.programs.clear();
  t.journal.records.length = 0;
}

describe("signals", () => {
  test("met in any order are those of the model", async () => {
    const t = testKernel({}, new Forgetful());
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 25, size: "max" }), (moves) => play(t, moves)),
      { numRuns: 4_000 },
    );
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("of 10,000 racing blocks, sends and unblocks none is lost and none doubled", async () => {
    const t = testKernel({}, new Forgetful());
    const sent = fc.record({ kind: fc.constant("send"), signal: fc.constantFrom<Signal>(1, 3, 4, 5) });
    const racing = fc.oneof(...harmless, { weight: 8, arbitrary: sent });
    const handled = [1, 3, 4, 5].map(
      (n): Move => ({ kind: "handle", signal: n as Signal, action: "counts later" }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(racing, { minLength: 10_000, maxLength: 10_000, size: "max" }), (moves) =>
        play(t, [...handled, ...moves]),
      ),
      { numRuns: 3 },
    );
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});
