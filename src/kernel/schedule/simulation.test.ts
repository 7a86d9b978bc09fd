import { describe, expect, it } from "vitest";
import type { LaneClass } from "../../abi/lanes.ts";
import { decide } from "./decide.ts";
import { type Granted, Lane } from "./lane.ts";
import type { Ticket } from "./ticket.ts";

const AGENTS = 50;
const PER_SECOND = 20;
const ANSWER_MS = 1_000;
const WARM_MS = 20_000;
const END_MS = 80_000;

/** A server with a bucket of one second, and agents that ask again as soon as they are answered; time is a list of dates. */
class Simulation {
  readonly answered = new Map<number, number>();
  refused = 0;
  /** The processes in the order in which they were granted. */
  readonly grants: { readonly process: number; readonly atMs: number }[] = [];
  readonly #lane = new Lane({}, 0);
  readonly #queue = new Set<Ticket>();
  readonly #dates: { readonly atMs: number; readonly act: () => void }[] = [];
  #nowMs = 0;
  #level = PER_SECOND;
  #levelAtMs = 0;
  #order = 0;
  #wokenAtMs = 0;

  ask(process: number, name: LaneClass = "foreground"): void {
    const claim = { session: `s${process}`, process, weight: 10, sessionWeight: 10 };
    const times = { sinceMs: this.#nowMs, order: this.#order++ };
    this.#queue.add({ ...claim, ...times, class: name, input: 1_000, output: 500 });
  }

  at(atMs: number, act: () => void): void {
    this.#dates.push({ atMs, act });
  }

  run(endMs: number): void {
    this.#advance();
    for (;;) {
      this.#dates.sort((a, b) => a.atMs - b.atMs);
      const next = this.#dates.shift();
      if (next === undefined || next.atMs > endMs) return;
      this.#nowMs = next.atMs;
      next.act();
      this.#advance();
    }
  }

  #advance(): void {
    for (;;) {
      const decision = decide(this.#lane, this.#queue, this.#nowMs);
      if (decision.kind === "wait") this.#wake(decision.untilMs);
      if (decision.kind !== "grant") return;
      this.#queue.delete(decision.ticket);
      this.#send(this.#lane.grant(decision.ticket, decision.isInTurn, this.#nowMs));
    }
  }

  /** One date for each time is enough. */
  #wake(atMs: number): void {
    if (this.#wokenAtMs !== atMs) this.at(atMs, () => {});
    this.#wokenAtMs = atMs;
  }

  #send(granted: Granted): void {
    const { process } = granted.ticket;
    const gained = ((this.#nowMs - this.#levelAtMs) / 1_000) * PER_SECOND;
    this.#level = Math.min(PER_SECOND, this.#level + gained);
    this.#levelAtMs = this.#nowMs;
    const isTaken = this.#level >= 1;
    if (isTaken) this.#level--;
    const readings = { requests: { limit: PER_SECOND * 60, remaining: Math.floor(this.#level) } };
    this.grants.push({ process, atMs: this.#nowMs });
    this.at(this.#nowMs + (isTaken ? ANSWER_MS : 50), () => {
      this.#lane.readings(granted, readings, this.#nowMs);
      if (isTaken) this.#answered(granted);
      else this.#refused(granted);
      this.#lane.free(granted);
      if (process < AGENTS) this.ask(process);
    });
  }

  #answered(granted: Granted): void {
    this.#lane.ended(granted, { input: 1_000, output: 500 }, this.#nowMs);
    const { process } = granted.ticket;
    if (this.#nowMs >= WARM_MS) this.answered.set(process, (this.answered.get(process) ?? 0) + 1);
  }

  #refused(granted: Granted): void {
    this.refused++;
    this.#lane.refused(granted, 1_000, this.#nowMs);
  }
}

describe("a lane under a rate that it learns from the server's answers", () => {
  it("uses at least 0.95 of it, shares it alike, and lets an attached run overtake at the next grant", () => {
    const simulation = new Simulation();
    for (let process = 0; process < AGENTS; process++) simulation.ask(process);
    const askedMs = 50_010;
    simulation.at(askedMs, () => simulation.ask(AGENTS, "interactive"));
    simulation.run(END_MS);
    const counts = Array.from({ length: AGENTS }, (_, process) => simulation.answered.get(process) ?? 0);
    const sum = counts.reduce((total, each) => total + each, 0);
    expect(sum / ((PER_SECOND * (END_MS - WARM_MS)) / 1_000)).toBeGreaterThanOrEqual(0.95);
    expect(sum ** 2 / (AGENTS * counts.reduce((total, each) => total + each ** 2, 0))).toBeGreaterThanOrEqual(
      0.98,
    );
    expect(simulation.refused).toBeLessThanOrEqual(8);
    const after = simulation.grants.filter(({ atMs }) => atMs >= askedMs);
    expect(after[0]?.process).toBe(AGENTS);
  });
});
