/** Budgets over the ends of daemons: for random trees, calls, kills and crashes nothing that was spent is forgotten or counted twice. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Device, OpenFile } from "../../abi/device.ts";
import { asProcUuid, type Pid } from "../../abi/ids.ts";
import { EXIT, SIGNALS } from "../../abi/process.ts";
import type { Begun, Program } from "../../abi/program.ts";
import { wake } from "../../history/recover/wake.ts";
import { microUsd } from "../../lib/usd.ts";
import type { ProcessRow } from "../ports/journal.ts";
import type { SpawnedBody } from "../process/kept-state.ts";
import type { MemoryJournal } from "../testing/memory-journal.ts";
import { bytes, type TestKernel, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

/** Of each token, a millionth of a dollar and a half: rounded up. */
const USD = 0.000_001_5;

interface Order {
  readonly id: number;
  readonly reserve: number;
  readonly cost: number;
}

/** A call lasts until the test ends it, whatever becomes of its process. */
class Counter implements Device {
  readonly name = "counter";
  readonly traffic = "message";
  readonly #open = new Map<number, () => void>();
  readonly #begun: (id: number) => void;

  /** `begun` hears of every call that left, whatever the journal keeps of it. */
  constructor(begun: (id: number) => void) {
    this.#begun = begun;
  }

  async open(): Promise<OpenFile> {
    let order: Order | undefined;
    const parse = (data: Uint8Array) => JSON.parse(Buffer.from(data).toString()) as Order;
    return {
      read: async () => new Uint8Array(),
      plan: (data) => ({
        effects: [{ kind: "llm", device: "/dev/llm/counter", maxTokens: 0 }],
        effectClass: "once",
        reserve: { tokens: parse(data).reserve, usd: parse(data).reserve * USD },
      }),
      write: (data) => {
        order = parse(data);
        const { id } = order;
        this.#begun(id);
        return new Promise((resolve) => this.#open.set(id, resolve));
      },
      charge: () => (order === undefined ? undefined : { tokens: order.cost, usd: order.cost * USD }),
      close: async () => {},
      stat: async () => ({ name: "counter", size: 0, isDevice: true, devicePath: "" }),
    };
  }

  async stat() {
    return { name: "counter", size: 0, isDevice: true, devicePath: "" };
  }

  end(at: number): void {
    const ids = [...this.#open.keys()];
    const id = ids[at % Math.max(1, ids.length)];
    if (id === undefined) return;
    this.#open.get(id)?.();
    this.#open.delete(id);
  }
}

let generation = 0;

class World {
  t: TestKernel;
  begun = new Map<Pid, Begun>();
  readonly pids: Pid[] = [];
  #orders = 0;
  /** Outside of every journal: the calls that were paid from an account under a limit, and those of them that left. */
  readonly #limited = new Set<number>();
  readonly #left = new Set<number>();
  counter = this.#newCounter();

  constructor() {
    this.t = this.#daemon();
  }

  #daemon(journal?: MemoryJournal): TestKernel {
    generation++;
    let named = 0;
    const name = () => `${generation}`.padStart(4, "0") + `${++named}`.padStart(12, "0");
    const begun = new Map<Pid, Begun>();
    this.begun = begun;
    const program: Program = (sys, start) => {
      begun.set(start.pid, { sys, start });
      return new Promise<typeof EXIT.unexpected>((resolve) =>
        sys.ending.addEventListener("abort", () => resolve(EXIT.unexpected)),
      );
    };
    const t = testKernel({ nonce: name, uuid: () => asProcUuid(`00000000-${name()}`), program }, journal);
    this.counter = this.#newCounter();
    t.kernel.mount("/dev/llm/counter", this.counter);
    return t;
  }

  #newCounter(): Counter {
    return new Counter((id) => {
      if (this.#limited.has(id)) this.#left.add(id);
    });
  }

  /** Of the processes that live, one; undefined: none does. */
  #live(at: number): Begun | undefined {
    const live = [...this.begun.values()].filter(
      ({ start }) => this.t.kernel.table.get(start.pid)?.isLive === true,
    );
    return live[at % Math.max(1, live.length)];
  }

  async spawn(at: number, contextBudget: number, session: boolean): Promise<void> {
    const budget = contextBudget % 4 === 0 && contextBudget > 0 ? { usd: 0.000_9 } : {};
    const by = at % 3 === 0 ? this.t.init : (this.#live(at)?.sys ?? this.t.init);
    this.pids.push(await by.spawn(`w${this.pids.length}`, null, { contextBudget, session, budget }));
    await settle();
  }

  async call(at: number, reserve: number, cost: number): Promise<void> {
    const caller = this.#live(at);
    if (caller === undefined) return;
    const fd = await caller.sys.open("/dev/llm/counter", 2);
    const order: Order = { id: ++this.#orders, reserve, cost: Math.min(cost, reserve) };
    if (this.t.proc(caller.start.pid).seed.account.limited().length > 0) this.#limited.add(order.id);
    // a budget may refuse it, an end cut it off
    caller.sys.write(fd, bytes(JSON.stringify(order))).catch(() => {});
    await settle();
  }

  async kill(at: number): Promise<void> {
    const victim = this.#live(at);
    if (victim === undefined) return;
    await this.t.init.kill(victim.start.pid, SIGNALS.SIGKILL);
    await settle(4);
  }

  async wake(at: number): Promise<void> {
    const pid = this.pids[at % Math.max(1, this.pids.length)];
    if (pid === undefined) return;
    // one whose parent has not heard of its end stays where it is
    await wake(this.t.kernel, pid, { session: true }).catch((error: { code?: string }) => {
      expect(error.code).toBe("CONFLICT");
    });
    await settle(4);
  }

  /** Spent and set aside, by limit, of those in memory. */
  limits(): ReadonlyMap<string, Seen> {
    const found = new Map<string, Seen>();
    for (const proc of this.t.kernel.table.all())
      for (const account of proc.seed.account.limited())
        if (account.owner !== null) {
          const known = found.get(account.owner.proc);
          const { tokens: used, microUsd: usd } = account.spent;
          const { tokens, microUsd } = account.reserved;
          const view = { used, usd, reserved: tokens + microUsd };
          // a limit is one account, however many draw on it
          if (known !== undefined) expect(view).toMatchObject(known);
          found.set(account.owner.proc, view);
        }
    return found;
  }

  async crash(kept: number): Promise<void> {
    const before = this.limits();
    const { journal } = this.t;
    journal.crash(kept);
    this.t = this.#daemon(journal);
    await this.t.kernel.recover();
    await settle(8);
    const after = this.limits();
    for (const [limit, { used, usd, reserved }] of after) {
      expect(used).toBeGreaterThanOrEqual(before.get(limit)?.used ?? 0);
      expect(usd).toBeGreaterThanOrEqual(before.get(limit)?.usd ?? 0);
      expect(reserved).toBe(0);
    }
    await this.check();
  }

  /** The power fails while the intent of a call is on its way to the disk: no record of it is left. */
  async cut(at: number, reserve: number, cost: number): Promise<void> {
    const { journal } = this.t;
    journal.gate = new Promise(() => {});
    await this.call(at, reserve, cost);
    journal.gate = Promise.resolve();
    await this.crash(0);
  }

  /** What each call cost, or had set aside where nobody knows, is what the limits above it have counted: to the token. */
  async check(): Promise<void> {
    const { journal } = this.t;
    // a crash may lose what was not synced: under a limit, no call had left by then
    expect(intentsUnderLimits(journal)).toBeGreaterThanOrEqual(this.#left.size);
    await journal.sync();
    const spent = spentBy(journal);
    for (const [limit, { used, usd }] of this.limits())
      expect([limit, used, usd]).toEqual([limit, ...(spent.get(limit) ?? [0, 0])]);
    const rows = (await journal.rows({})) as readonly ProcessRow[];
    for (const row of rows)
      if (spent.has(row.proc)) expect([row.pid, row.limitUsed]).toEqual([row.pid, spent.get(row.proc)?.[0]]);
  }
}

function intentsUnderLimits({ records }: MemoryJournal): number {
  const limited = records.flatMap(({ kind, proc, body }) => {
    if (kind !== "process.spawned") return [];
    const { budget = 0, limits, accounts = [] } = body as SpawnedBody;
    const isBelow = accounts.some((account) => account.limit > 0 || account.limits !== undefined);
    return budget > 0 || limits !== undefined || isBelow ? [proc] : [];
  });
  return records.filter(({ kind, proc }) => kind === "call.intent" && limited.includes(proc)).length;
}

interface Seen {
  readonly used: number;
  readonly usd: number;
  readonly reserved: number;
}

/** By limit, from the calls alone: tokens, and millionths of a dollar. */
function spentBy({ records }: MemoryJournal): ReadonlyMap<string, readonly [number, number]> {
  const results = new Map(
    records
      .filter(({ kind }) => kind === "call.result" || kind === "call.unknown")
      .map((r) => [r.call, r.body]),
  );
  const spawned = new Map(
    records.filter(({ kind }) => kind === "process.spawned").map((r) => [r.proc, r.body as SpawnedBody]),
  );
  const spent = new Map<string, readonly [number, number]>();
  for (const { kind, proc, call } of records) {
    if (kind !== "call.intent") continue;
    const { budget = 0, limits, accounts = [] } = spawned.get(proc) ?? {};
    const { cost } = (results.get(call) ?? {}) as { cost?: { tokens: number; usd: number | null } };
    const isOwn = budget > 0 || limits !== undefined;
    const above = accounts.filter((account) => account.limit > 0 || account.limits !== undefined);
    for (const limit of [...(isOwn ? [proc] : []), ...above.map((account) => account.proc)]) {
      const [tokens, usd] = spent.get(limit) ?? [0, 0];
      spent.set(limit, [tokens + (cost?.tokens ?? 0), usd + microUsd(cost?.usd ?? 0)]);
    }
  }
  return spent;
}

const step = fc.oneof(
  fc.tuple(fc.constant("spawn" as const), fc.nat(20), fc.constantFrom(0, 150, 400, 900)),
  fc.tuple(fc.constant("call" as const), fc.nat(20), fc.integer({ min: 1, max: 120 }), fc.nat(120)),
  fc.tuple(fc.constant("call" as const), fc.nat(20), fc.integer({ min: 1, max: 120 }), fc.nat(120)),
  fc.tuple(fc.constant("end" as const), fc.nat(20)),
  fc.tuple(fc.constant("kill" as const), fc.nat(20)),
  fc.tuple(fc.constant("wake" as const), fc.nat(20)),
  fc.tuple(fc.constant("crash" as const), fc.nat(12)),
  fc.tuple(fc.constant("cut" as const), fc.nat(20), fc.integer({ min: 1, max: 120 }), fc.nat(120)),
);

test("limits: what was spent never shrinks, is settled once, and is the sum of what is below, whatever crashes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
      const world = new World();
      await world.spawn(0, 900, true);
      await world.spawn(1, 400, false);
      for (const [what, at, more = 0, cost = 0] of steps) {
        if (what === "spawn") await world.spawn(at, more, at % 2 === 0);
        else if (what === "call") await world.call(at, more, cost);
        else if (what === "end") world.counter.end(at);
        else if (what === "kill") await world.kill(at);
        else if (what === "wake") await world.wake(at);
        else if (what === "cut") await world.cut(at, more, cost);
        else await world.crash(at);
        await settle();
      }
      await world.crash(0);
    }),
    { numRuns: 400 },
  );
});
