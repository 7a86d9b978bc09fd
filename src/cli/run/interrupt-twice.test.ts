import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { Interrupts } from "../terminal/interrupts.ts";
import { InterruptTwice } from "./interrupt-twice.ts";

class Bench {
  readonly interrupts = new Interrupts(new EventEmitter());
  readonly story: string[] = [];
  readonly #gates: PromiseWithResolvers<void>[] = [];
  readonly twice = new InterruptTwice<string>(this.interrupts, {
    ask: (target) => this.#act(`ask ${target}`),
    insist: (target) => this.#act(`insist ${target}`),
  });

  press(times = 1): void {
    for (let n = 0; n < times; n++) this.interrupts.raise();
  }

  get isAbandoned(): boolean {
    return this.twice.abandoned.aborted;
  }

  async finish(): Promise<void> {
    for (const gate of this.#gates) gate.resolve();
    await this.twice.told();
  }

  #act(what: string): Promise<void> {
    this.story.push(what);
    const gate = Promise.withResolvers<void>();
    this.#gates.push(gate);
    return gate.promise;
  }
}

test("InterruptTwice: the first asks, the second insists, and leaves when that is done", async () => {
  const bench = new Bench();
  bench.twice.beginning();
  bench.twice.began("it");
  bench.press();
  expect([bench.story, bench.isAbandoned]).toEqual([["ask it"], false]);
  bench.press();
  expect([bench.story, bench.isAbandoned]).toEqual([["ask it", "insist it"], false]);
  await bench.finish();
  expect([bench.isAbandoned, bench.twice.presses]).toEqual([true, 2]);
});

test("InterruptTwice: a third leaves at once", () => {
  const bench = new Bench();
  bench.twice.began("it");
  bench.press(3);
  expect([bench.story, bench.isAbandoned]).toEqual([["ask it", "insist it"], true]);
});

test("InterruptTwice: before anything was begun, the first leaves", () => {
  const bench = new Bench();
  bench.press();
  expect([bench.story, bench.isAbandoned]).toEqual([[], true]);
});

test("InterruptTwice: while it is not known what was begun, the first waits for it, the second leaves", () => {
  const bench = new Bench();
  bench.twice.beginning();
  bench.press();
  expect([bench.story, bench.isAbandoned]).toEqual([[], false]);
  bench.twice.began("it");
  expect(bench.story).toEqual(["ask it"]);

  const other = new Bench();
  other.twice.beginning();
  other.press(2);
  expect([other.story, other.isAbandoned]).toEqual([[], true]);
});

test("InterruptTwice: disposed, it waits for what is being sent, and hears no more", async () => {
  const bench = new Bench();
  bench.twice.began("it");
  bench.press();
  let isOver = false;
  const over = bench.twice[Symbol.asyncDispose]().then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  bench.press();
  await bench.finish();
  await over;
  expect([bench.story, isOver]).toEqual([["ask it"], true]);
});
