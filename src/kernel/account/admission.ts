/**
 * Which of the agents that agents start may run now: the others wait in the order of their spawns, as processes that have not begun.
 * An agent that waits for another one, for a message or for a time does not count, so a tree cannot block itself; what has begun is
 * never held up again. The queue is made of processes, which are recorded, so it survives the daemon.
 */
import { isInternal } from "../../abi/fork.ts";
import { ABORTED } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";
import type { Account } from "./account.ts";
import type { Accounting, Payer } from "./accounting.ts";
import { isCounted, isPersons, topOf } from "./spawn-guard.ts";
import { WaitingTree } from "./waiting.ts";

/** An agent that may have to wait before its program begins. */
interface Candidate extends Payer {
  readonly seed: Payer["seed"] & { readonly fork?: { readonly label: string } };
  readonly halt: Payer["halt"] & {
    readonly isQueued: boolean;
    enqueue(mono: number): void;
    admit(mono: number): void;
  };
}

type Admitting = Pick<Accounting, "ports"> & {
  readonly root: Payer;
  readonly table: { get(pid: Payer["pid"]): Payer | undefined };
};

/** The place in the queue of its tree, from 1, and the length of that queue. */
interface QueuePlace {
  readonly place: number;
  readonly of: number;
}

/** An agent that has entered and not left, and what of it never changes. */
interface Entrant {
  readonly proc: Candidate;
  /** Rises with each one that enters. */
  readonly seq: number;
  /** Its parent when it entered: orphans of one process become so together. */
  readonly ppid: Payer["pid"];
  /** The accounts above its own, nearest first; the topmost agent's is that of its tree. */
  readonly above: readonly Account[];
  readonly top: Account;
}

const MINUTE_MS = 60_000;

/**
 * What is counted is kept up to date as agents come, wait and go, so that no event looks at all processes: each costs the depth
 * of the tree, and a look at the parents whose children wait.
 */
export class Admission {
  readonly #core: () => Admitting;
  readonly #entrants = new Map<object, Entrant>();
  /** Those with agents that wait. Each is bounded by its queue (`checkSpawn`). */
  readonly #trees = new Map<Account, WaitingTree<Entrant>>();
  readonly #load = new Load();
  /** How many calls of a process wait at present. */
  readonly #idle = new Map<object, number>();
  /** When agents of a tree were admitted in the last minute, monotonic. */
  readonly #starts = new WeakMap<Account, number[]>();
  #seq = 0;
  #timer: AbortController | null = null;

  constructor(core: () => Admitting) {
    this.#core = core;
  }

  /**
   * Counts a process that is in the table. A new one is placed into the queue instead, and admitted at once if there is room;
   * `hasBegun`: it was admitted before.
   */
  enter(proc: Candidate, { hasBegun = false } = {}): void {
    const { kind, fork, account } = proc.seed;
    if (kind !== "agent" || isInternal(fork?.label)) return;
    const { table, root, ports } = this.#core();
    const { ppid } = proc;
    const above = account.parent?.chain() ?? [];
    const entrant = { proc, seq: ++this.#seq, ppid, above, top: topOf(account.parent ?? account) };
    this.#entrants.set(proc, entrant);
    if (!hasBegun && !isPersons(table.get(ppid) ?? root)) {
      proc.halt.enqueue(ports.clock.mono());
      const tree = this.#trees.get(entrant.top) ?? new WaitingTree(entrant.top);
      this.#trees.set(entrant.top, tree);
      tree.add(entrant);
    }
    this.#weigh(proc);
  }

  /** The process has ended, or its spawn failed. */
  leave(proc: object): void {
    const entrant = this.#entrants.get(proc);
    this.#entrants.delete(proc);
    if (entrant !== undefined) {
      this.#unqueue(entrant);
      this.#load.set(entrant, false);
    }
    this.check();
  }

  /** A call of the process waits, until the returned function is called. */
  idle(proc: object): () => void {
    this.#idle.set(proc, (this.#idle.get(proc) ?? 0) + 1);
    this.#weigh(proc);
    this.check();
    return () => {
      const left = (this.#idle.get(proc) ?? 1) - 1;
      if (left === 0) this.#idle.delete(proc);
      else this.#idle.set(proc, left);
      this.#weigh(proc);
    };
  }

  /** The place in the queue of its tree; undefined: it does not wait. */
  placeOf(proc: object): QueuePlace | undefined {
    const entrant = this.#entrants.get(proc);
    const tree = entrant === undefined ? undefined : this.#trees.get(entrant.top);
    const place = entrant === undefined ? undefined : tree?.placeOf(entrant);
    return tree === undefined || place === undefined ? undefined : { place, of: tree.size };
  }

  /** How many wait in the tree of this account. */
  waitingIn(account: Account): number {
    return this.#trees.get(topOf(account))?.size ?? 0;
  }

  /** Admits those for whom there is room: of the tree that runs the fewest first, and within a tree in order. */
  check(): void {
    if (this.#trees.size === 0) {
      this.close();
      return;
    }
    const most = this.#core().ports.budget?.().agents?.kernel ?? LIMITS.agents;
    if (this.#load.all >= most) return;
    const ready = new Set([...this.#trees.values()].filter((tree) => this.#nextOf(tree) !== undefined));
    while (this.#load.all < most && ready.size > 0) {
      const tree = this.#leastLoaded(ready);
      const next = this.#nextOf(tree);
      if (next === undefined) ready.delete(tree);
      else this.#admit(next);
    }
  }

  /** Ends the timer. */
  close(): void {
    this.#timer?.abort(ABORTED);
    this.#timer = null;
  }

  /** Counts the process as running, or not. */
  #weigh(proc: object): void {
    const entrant = this.#entrants.get(proc);
    if (entrant === undefined) return;
    this.#load.set(entrant, !entrant.proc.halt.isQueued && !this.#idle.has(proc));
  }

  #unqueue(entrant: Entrant): void {
    const tree = this.#trees.get(entrant.top);
    tree?.delete(entrant);
    if (tree?.size === 0) this.#trees.delete(entrant.top);
  }

  /** The one of the tree that may run now. */
  #nextOf(tree: WaitingTree<Entrant>): Entrant | undefined {
    const isFull = this.#load.below(tree.top) >= atOnce(tree.top, tree.top);
    if (isFull || tree.size === 0 || this.#isFast(tree.top)) return undefined;
    return tree.first((entrant) => this.#fits(entrant));
  }

  /** The same for all of one parent. */
  #fits({ proc, above, top }: Entrant): boolean {
    const { table, root, ports } = this.#core();
    const parent = table.get(proc.ppid) ?? root;
    const own = parent.seed.account;
    const most = own.limits.concurrent ?? ports.budget?.().agents?.children ?? LIMITS.agentChildren;
    if (isCounted(parent) && this.#load.children(proc.ppid) >= most) return false;
    return above.every((account) => this.#load.below(account) < atOnce(account, top));
  }

  #admit(entrant: Entrant): void {
    const { proc, top } = entrant;
    const now = this.#core().ports.clock.mono();
    this.#unqueue(entrant);
    const starts = this.#starts.get(top) ?? [];
    starts.push(now);
    this.#starts.set(top, starts);
    proc.halt.admit(now);
    this.#weigh(proc);
  }

  /** Of several, the one whose first agent has waited longest. */
  #leastLoaded(trees: Iterable<WaitingTree<Entrant>>): WaitingTree<Entrant> {
    const [first, ...others] = trees;
    if (first === undefined) throw new Error("no tree waits");
    const isBefore = (a: WaitingTree<Entrant>, b: WaitingTree<Entrant>): boolean => {
      const more = this.#load.below(a.top) - this.#load.below(b.top);
      return more === 0 ? a.since < b.since : more < 0;
    };
    return others.reduce((least, each) => (isBefore(each, least) ? each : least), first);
  }

  /** As many of the tree began in the last minute as may; those that wait are looked at again in time. */
  #isFast(top: Account): boolean {
    const { ports } = this.#core();
    const now = ports.clock.mono();
    const most = ports.budget?.().agents?.perMinute ?? LIMITS.agentsPerMinute;
    const starts = this.#starts.get(top) ?? [];
    const since = starts.findIndex((at) => at > now - MINUTE_MS);
    starts.splice(0, since < 0 ? starts.length : since);
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

/** The agents that run. */
class Load {
  readonly #entrants = new Set<Entrant>();
  readonly #children = new Map<Payer["pid"], number>();
  readonly #below = new Map<Account, number>();

  get all(): number {
    return this.#entrants.size;
  }

  children(pid: Payer["pid"]): number {
    return this.#children.get(pid) ?? 0;
  }

  below(account: Account): number {
    return this.#below.get(account) ?? 0;
  }

  /** Idempotent. */
  set(entrant: Entrant, runs: boolean): void {
    if (this.#entrants.has(entrant) === runs) return;
    if (runs) this.#entrants.add(entrant);
    else this.#entrants.delete(entrant);
    const n = runs ? 1 : -1;
    add(this.#children, entrant.ppid, n);
    for (const account of entrant.above) add(this.#below, account, n);
  }
}

function add<K>(counts: Map<K, number>, key: K, n: number): void {
  const count = (counts.get(key) ?? 0) + n;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function atOnce(account: Account, top: Account): number {
  return account.limits.concurrent ?? (account === top ? LIMITS.agentTree : Infinity);
}
