/**
 * Which of the agents that agents start may run now: the others wait in the order of their spawns, as processes that have not begun.
 * An agent that waits for another one, for a message or for a time does not count, so a tree cannot block itself; what has begun is
 * never held up again. The queue is made of processes, which are recorded, so it survives the daemon.
 */
import { LIMITS } from "../limits.ts";
import type { Account } from "./account.ts";
import type { Accounting, Payer } from "./accounting.ts";
import { isCounted, isPersons, topOf } from "./spawn-guard.ts";

/** An agent that may have to wait before its program begins. */
interface Candidate extends Payer {
  readonly seed: Payer["seed"] & { readonly fork?: unknown };
  readonly halt: Payer["halt"] & {
    readonly isQueued: boolean;
    enqueue(mono: number): void;
    admit(mono: number): void;
  };
}

type Admitting = Pick<Accounting, "ports"> & {
  readonly root: Payer;
  readonly table: { get(pid: Payer["pid"]): Payer | undefined; all(): Iterable<Candidate> };
};

/** The place in the queue of its tree, from 1, and the length of that queue. */
interface QueuePlace {
  readonly place: number;
  readonly of: number;
}

const MINUTE_MS = 60_000;

export class Admission {
  readonly #core: () => Admitting;
  /** In the order of the spawns. Bounded by the queue of each tree (`checkSpawn`). */
  readonly #queue = new Set<Candidate>();
  /** How many calls of a process wait at present. */
  readonly #idle = new Map<object, number>();
  /** When agents of a tree were admitted in the last minute, monotonic. */
  readonly #starts = new WeakMap<Account, number[]>();
  #timer: AbortController | null = null;

  constructor(core: () => Admitting) {
    this.#core = core;
  }

  /** Places a new process, which is in the table, into the queue: it is admitted at once if there is room. */
  enter(proc: Candidate): void {
    const { table, root, ports } = this.#core();
    const parent = table.get(proc.ppid) ?? root;
    if (proc.seed.kind !== "agent" || proc.seed.fork !== undefined || isPersons(parent)) return;
    proc.halt.enqueue(ports.clock.mono());
    this.#queue.add(proc);
  }

  /** The process has ended, or its spawn failed. */
  leave(proc: object): void {
    this.#queue.delete(proc as Candidate);
    this.check();
  }

  /** A call of the process waits, until the returned function is called. */
  idle(proc: object): () => void {
    this.#idle.set(proc, (this.#idle.get(proc) ?? 0) + 1);
    this.check();
    return () => {
      const left = (this.#idle.get(proc) ?? 1) - 1;
      if (left === 0) this.#idle.delete(proc);
      else this.#idle.set(proc, left);
    };
  }

  /** The place in the queue of its tree; undefined: it does not wait. */
  placeOf(proc: Candidate): QueuePlace | undefined {
    const waiting = this.#trees().get(treeOf(proc)) ?? [];
    const at = waiting.indexOf(proc);
    return at < 0 ? undefined : { place: at + 1, of: waiting.length };
  }

  /** How many wait in the tree of this account. */
  waitingIn(account: Account): number {
    return this.#trees().get(topOf(account))?.length ?? 0;
  }

  /** Admits those for whom there is room: of the tree that runs the fewest first, and within a tree in order. */
  check(): void {
    if (this.#queue.size === 0) this.close();
    const load = this.#load();
    const trees = this.#trees();
    const most = this.#core().ports.budget?.().agents?.kernel ?? LIMITS.agents;
    while (load.all < most && trees.size > 0) {
      const [top, waiting] = leastLoaded(trees, load);
      const at = this.#isFast(top) ? -1 : waiting.findIndex((proc) => this.#fits(proc, load));
      const [next] = at < 0 ? [] : waiting.splice(at, 1);
      if (next === undefined || waiting.length === 0) trees.delete(top);
      if (next !== undefined) this.#admit(next, top, load);
    }
  }

  /** Ends the timer. */
  close(): void {
    this.#timer?.abort();
    this.#timer = null;
  }

  #trees(): Map<Account, Candidate[]> {
    const trees = new Map<Account, Candidate[]>();
    for (const proc of this.#queue) {
      const top = treeOf(proc);
      const waiting = trees.get(top) ?? [];
      waiting.push(proc);
      trees.set(top, waiting);
    }
    return trees;
  }

  #load(): Load {
    const load = new Load();
    for (const proc of this.#core().table.all()) {
      const { isLive, life, seed, halt } = proc;
      const isAgent = seed.kind === "agent" && seed.fork === undefined;
      if (isAgent && isLive && !life.isResting && !halt.isQueued && !this.#idle.has(proc)) load.add(proc);
    }
    return load;
  }

  #fits({ ppid, seed }: Candidate, load: Load): boolean {
    const { table, root, ports } = this.#core();
    const parent = table.get(ppid) ?? root;
    const own = parent.seed.account;
    const most = own.limits.concurrent ?? ports.budget?.().agents?.children ?? LIMITS.agentChildren;
    if (isCounted(parent) && (load.children.get(ppid) ?? 0) >= most) return false;
    const above = seed.account.chain().filter((account) => account !== seed.account);
    return above.every((account) => (load.below.get(account) ?? 0) < atOnce(account, topOf(own)));
  }

  #admit(proc: Candidate, top: Account, load: Load): void {
    const now = this.#core().ports.clock.mono();
    this.#queue.delete(proc);
    this.#starts.set(top, [...(this.#starts.get(top) ?? []), now]);
    load.add(proc);
    proc.halt.admit(now);
  }

  /** As many of the tree began in the last minute as may; those that wait are looked at again in time. */
  #isFast(top: Account): boolean {
    const { ports } = this.#core();
    const now = ports.clock.mono();
    const most = ports.budget?.().agents?.perMinute ?? LIMITS.agentsPerMinute;
    const starts = (this.#starts.get(top) ?? []).filter((at) => at > now - MINUTE_MS);
    this.#starts.set(top, starts);
    const [first] = starts;
    if (first === undefined || starts.length < most) return false;
    if (this.#timer === null) {
      const timer = new AbortController();
      this.#timer = timer;
      ports.clock.sleep(first + MINUTE_MS - now, timer.signal).then(
        () => {
          this.#timer = null;
          this.check();
        },
        () => {},
      );
    }
    return true;
  }
}

/** Its tree, by the topmost account. A program of the user that starts agents is the top of theirs. */
function treeOf({ seed: { account } }: Payer): Account {
  return topOf(account.parent ?? account);
}

/** The agents that run. */
class Load {
  all = 0;
  readonly children = new Map<number, number>();
  readonly below = new Map<Account, number>();

  add({ ppid, seed }: Payer): void {
    this.all++;
    this.children.set(ppid, (this.children.get(ppid) ?? 0) + 1);
    for (const account of seed.account.chain())
      if (account !== seed.account) this.below.set(account, (this.below.get(account) ?? 0) + 1);
  }
}

function atOnce(account: Account, top: Account): number {
  return account.limits.concurrent ?? (account === top ? LIMITS.agentTree : Infinity);
}

function leastLoaded(trees: ReadonlyMap<Account, Candidate[]>, { below }: Load): [Account, Candidate[]] {
  const [first, ...others] = trees;
  if (first === undefined) throw new Error("no tree waits");
  return others.reduce(
    (least, each) => ((below.get(each[0]) ?? 0) < (below.get(least[0]) ?? 0) ? each : least),
    first,
  );
}
