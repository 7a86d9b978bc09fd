/** What several processes share, as they did before: limits and the grants of a session, also where their owner is gone. */
import type { ProcUuid } from "../../abi/ids.ts";
import { Account } from "../account/account.ts";
import { openLimits } from "../account/open-limits.ts";
import type { Core } from "../core.ts";
import type { RecordOwner } from "../ports/journal.ts";
import type { KeptAccounts } from "./kept-state.ts";
import { Session } from "./session.ts";

/** What was used of limits, as their records say. Those in memory know better: `Shares` takes them first. */
export class LimitsRead {
  readonly #core: Core;
  readonly #owners: readonly ProcUuid[];
  #inMemory: ReadonlyMap<ProcUuid, Account> = new Map();
  #used: ReadonlyMap<ProcUuid, number> = new Map();

  constructor(core: Core, owners: readonly ProcUuid[]) {
    this.#core = core;
    this.#owners = owners;
  }

  async read(): Promise<void> {
    const { journal } = this.#core.ports;
    this.#inMemory = limitsOf(this.#core);
    await journal.sync().catch(() => {});
    const used = new Map<ProcUuid, number>();
    for (const owner of this.#owners) used.set(owner, (await journal.row(owner))?.limitUsed ?? 0);
    this.#used = used;
  }

  /** One of them was drawn on meanwhile, and whoever did is gone: what was read may be too little. */
  get isStale(): boolean {
    const now = limitsOf(this.#core);
    return this.#owners.some((owner) => this.#inMemory.has(owner) && !now.has(owner));
  }

  get usedOf(): (proc: ProcUuid) => number {
    return (proc) => this.#used.get(proc) ?? 0;
  }
}

/** By whose they are: of the processes in memory, and of those that left it while a call of theirs was under way. */
function limitsOf(core: Core): Map<ProcUuid, Account> {
  const limits = new Map(openLimits(core));
  for (const { seed } of core.table.all())
    for (const account of seed.account.limited())
      if (account.owner !== null) limits.set(account.owner.proc, account);
  return limits;
}

export class Shares {
  readonly #core: Core;
  readonly #limits: Map<ProcUuid, Account>;
  readonly #sessions = new Map<ProcUuid, Session>();
  /** Tokens used of the limit of a process that is not in memory. */
  readonly #usedOf: (proc: ProcUuid) => number;

  /** With those that are in use already. */
  constructor(core: Core, usedOf: (proc: ProcUuid) => number) {
    this.#core = core;
    this.#usedOf = usedOf;
    this.#limits = limitsOf(core);
    for (const { seed } of core.table.all())
      if (seed.session.owner !== null) this.#sessions.set(seed.session.owner.proc, seed.session);
  }

  session(owner: RecordOwner): Session {
    const session = this.#sessions.get(owner.proc) ?? new Session(owner);
    this.#sessions.set(owner.proc, session);
    return session;
  }

  /** The nearest of the limits that a process spent from, with those above it. */
  above([nearest, ...more]: KeptAccounts["accounts"]): Account {
    if (nearest === undefined) return this.#core.root.seed.account;
    return this.limit(nearest, nearest.limit, () => this.above(more));
  }

  limit({ proc, pid }: RecordOwner, limit: number, above: () => Account): Account {
    const account = this.#limits.get(proc) ?? new Account(above(), limit, { proc, pid }, this.#usedOf(proc));
    this.#limits.set(proc, account);
    return account;
  }
}
