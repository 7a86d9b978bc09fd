/** What several processes share, as they did before: limits and the grants of a session, also where their owner is gone. */
import type { ProcUuid } from "../../abi/ids.ts";
import { Account } from "../account/account.ts";
import type { Core } from "../core.ts";
import type { RecordOwner } from "../ports/journal.ts";
import type { KeptAccounts } from "./kept-state.ts";
import { Session } from "./session.ts";

export class Shares {
  readonly #core: Core;
  readonly #limits = new Map<ProcUuid, Account>();
  readonly #sessions = new Map<ProcUuid, Session>();
  /** Tokens used of the limit of a process that is not in memory. */
  readonly #usedOf: (proc: ProcUuid) => number;

  /** With those that are in use already. */
  constructor(core: Core, usedOf: (proc: ProcUuid) => number) {
    this.#core = core;
    this.#usedOf = usedOf;
    for (const { seed } of core.table.all()) {
      for (const account of seed.account.limited())
        if (account.owner !== null) this.#limits.set(account.owner.proc, account);
      if (seed.session.owner !== null) this.#sessions.set(seed.session.owner.proc, seed.session);
    }
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
