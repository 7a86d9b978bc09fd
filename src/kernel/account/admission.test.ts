/** Who may begin, kept up to date by event, against the plain walk over all agents. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { PID_KERNEL } from "../../abi/ids.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { Account } from "./account.ts";
import { Admission } from "./admission.ts";

const MINUTE_MS = 60_000;

/** As much of an agent as the queue looks at; each look at it is counted. */
class Agent {
  static looks = 0;
  readonly pid: number;
  ppid: number;
  readonly #seed: { readonly kind: string; readonly account: Account };
  isQueued = false;
  readonly waits: (() => void)[] = [];

  constructor(pid: number, ppid: number, account: Account) {
    this.pid = pid;
    this.ppid = ppid;
    this.#seed = { kind: pid === PID_KERNEL ? "kernel" : "agent", account };
  }

  get seed() {
    Agent.looks++;
    return this.#seed;
  }

  get account(): Account {
    return this.#seed.account;
  }

  get halt() {
    Agent.looks++;
    return this;
  }

  enqueue(): void {
    this.isQueued = true;
  }

  admit(): void {
    this.isQueued = false;
  }
}

interface Most {
  readonly kernel: number;
  readonly children: number;
  readonly perMinute: number;
}

class Place {
  readonly clock = new VirtualClock();
  readonly root = new Agent(PID_KERNEL, PID_KERNEL, new Account(null, {}, { givesAll: true }));
  readonly table = new Map<number, Agent>();
  readonly admission: Admission;
  readonly most: Most;
  #pid = 10;

  constructor(most: Most) {
    this.most = most;
    const budget = () => ({ defaults: {}, windows: [], agents: most });
    const { clock, root, table } = this;
    this.admission = new Admission(() => ({ ports: { budget, clock }, root, table }) as never);
  }

  get agents(): readonly Agent[] {
    return [...this.table.values()];
  }

  spawn(parent: Agent, limits = {}): Agent {
    const agent = new Agent(this.#pid++, parent.pid, new Account(parent.account, limits));
    this.table.set(agent.pid, agent);
    this.admission.enter(agent as never);
    this.admission.check();
    return agent;
  }

  end(agent: Agent): void {
    this.table.delete(agent.pid);
    for (const each of this.agents) if (each.ppid === agent.pid) each.ppid = PID_KERNEL;
    this.admission.leave(agent);
  }
}

/** The same rules, by a walk over all agents before each admission. */
class Walk {
  readonly #place: Place;
  readonly queue: Agent[] = [];
  readonly #starts: { readonly top: Account; readonly at: number }[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  check(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.queue.splice(this.queue.indexOf(next), 1);
      this.#starts.push({ top: topOf(next), at: this.#place.clock.mono() });
    }
  }

  #next(): Agent | undefined {
    const { most } = this.#place;
    const runs = this.#place.agents.filter((each) => !this.queue.includes(each) && each.waits.length === 0);
    if (runs.length >= most.kernel) return undefined;
    const now = this.#place.clock.mono();
    const isFast = (top: Account) =>
      this.#starts.filter((each) => each.top === top && each.at > now - MINUTE_MS).length >= most.perMinute;
    const below = (account: Account) => runs.filter((each) => aboveOf(each).includes(account)).length;
    const fits = (agent: Agent) => {
      const parent = this.#place.table.get(agent.ppid);
      const siblings = runs.filter(({ ppid }) => ppid === agent.ppid).length;
      if (parent !== undefined && siblings >= (parent.account.limits.concurrent ?? most.children))
        return false;
      return aboveOf(agent).every((above) => below(above) < (above.limits.concurrent ?? Infinity));
    };
    const ready = this.queue.filter((agent) => !isFast(topOf(agent)) && fits(agent));
    const since = (top: Account) => this.queue.findIndex((each) => topOf(each) === top);
    return ready.toSorted(
      (a, b) => below(topOf(a)) - below(topOf(b)) || since(topOf(a)) - since(topOf(b)) || a.pid - b.pid,
    )[0];
  }
}

function aboveOf({ account }: Agent): readonly Account[] {
  return account.chain().slice(1);
}

function topOf({ account }: Agent): Account {
  return account.chain().at(-2) ?? account;
}

const step = fc.record({
  what: fc.constantFrom(
    ...[
      "spawn",
      "spawn",
      "spawn",
      "spawn",
      "spawn",
      "top",
      "end",
      "end",
      "idle",
      "resume",
      "limit",
      "minute",
    ],
  ),
  who: fc.nat(30),
  limit: fc.option(fc.nat(3), { nil: undefined, freq: 2 }),
});

test("admits the same agents as a walk over all of them, after any events, and shows the same places", async () => {
  const most = fc.record({
    kernel: fc.integer({ min: 2, max: 20 }),
    children: fc.integer({ min: 1, max: 4 }),
    perMinute: fc.integer({ min: 2, max: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(most, fc.array(step, { minLength: 30, maxLength: 60 }), async (bounds, steps) => {
      const place = new Place(bounds);
      const walk = new Walk(place);
      for (let n = 0; n < 3; n++) place.spawn(place.root);
      for (const { what, who, limit } of steps) {
        const begun = place.agents.filter(({ isQueued }) => !isQueued);
        const [any, runs] = [place.agents, begun].map((all) => all[who % Math.max(1, all.length)]);
        const limits = limit === undefined ? {} : { concurrent: limit };
        if (what === "top") place.spawn(place.root, limits);
        else if (what === "spawn" && runs !== undefined) walk.queue.push(place.spawn(runs, limits));
        else if (what === "end" && any !== undefined) {
          place.end(any);
          if (walk.queue.includes(any)) walk.queue.splice(walk.queue.indexOf(any), 1);
        } else if (what === "idle" && runs !== undefined) {
          // the walk after this event looks at it already
          runs.waits.push(place.admission.idle(runs));
        } else if (what === "resume") runs?.waits.pop()?.();
        else if (what === "limit") any?.account.grant(limits);
        else if (what === "minute") await place.clock.advance(MINUTE_MS);
        place.admission.check();
        walk.check();
        const pids = (of: readonly Agent[]) => of.map(({ pid }) => pid);
        expect(pids(place.agents.filter(({ isQueued }) => isQueued))).toEqual(pids(walk.queue));
        for (const agent of place.agents) {
          const tree = walk.queue.filter((each) => topOf(each) === topOf(agent));
          const at = tree.indexOf(agent);
          const shown = at < 0 ? undefined : { place: at + 1, of: tree.length };
          expect(place.admission.placeOf(agent)).toEqual(shown);
          expect(place.admission.waitingIn(agent.account)).toBe(tree.length);
        }
      }
      place.admission.close();
    }),
  );
});

test("looks at no more agents for an event where a thousand wait than where ten do", () => {
  const looks = [10, 1_000].map((waiting) => {
    const place = new Place({ kernel: 100, children: 4, perMinute: 10_000 });
    const lead = place.spawn(place.root);
    const [first, second] = Array.from({ length: waiting + 4 }, () => place.spawn(lead));
    if (first === undefined || second === undefined) throw new Error("none began");
    Agent.looks = 0;
    const last = place.spawn(lead);
    expect(place.admission.placeOf(last)).toEqual({ place: waiting + 1, of: waiting + 1 });
    place.end(first);
    place.admission.idle(second)();
    return Agent.looks;
  });
  expect(looks[1]).toBe(looks[0]);
});
