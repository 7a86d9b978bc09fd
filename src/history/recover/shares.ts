/** What several processes share, as they did before: limits and the grants of a session, also where their owner is gone. */
import type { Amounts, BudgetLimits } from "../../abi/budget.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import { Account } from "../../kernel/account/account.ts";
import { isLimited, NOTHING } from "../../kernel/account/amounts.ts";
import {
  type KeptAbove,
  type KeptAccount,
  limitsAtSpawn,
  NOT_KEPT,
  readKept,
} from "../../kernel/account/kept-account.ts";
import { openLimits } from "../../kernel/account/open-limits.ts";
import type { Core } from "../../kernel/core.ts";
import type { Journal, RecordOwner } from "../../kernel/ports/journal.ts";
import { Session } from "../../kernel/process/session.ts";
import type { SpawnedBody } from "./kept-state.ts";

/** What was used of limits, as their records say. Those in memory know better: `Shares` takes them first. */
export class LimitsRead {
  readonly #core: Core;
  readonly #owners: readonly AccountAtSpawn[];
  #inMemory: ReadonlyMap<ProcUuid, Account> = new Map();
  #kept: ReadonlyMap<ProcUuid, KeptAccount> = new Map();

  constructor(core: Core, owners: readonly AccountAtSpawn[]) {
    this.#core = core;
    this.#owners = owners;
  }

  async read(): Promise<void> {
    const { journal } = this.#core.ports;
    this.#inMemory = limitsOf(this.#core);
    await journal.sync().catch(() => {});
    this.#kept = await readAll(journal, this.#owners);
  }

  /** One of them was drawn on meanwhile, and whoever did is gone: what was read may be too little. */
  get isStale(): boolean {
    const now = limitsOf(this.#core);
    return this.#owners.some(({ proc }) => this.#inMemory.has(proc) && !now.has(proc));
  }

  get keptOf(): KeptOf {
    return (proc) => this.#kept.get(proc);
  }
}

/** An account, with the limits that it had when the process was spawned that names it. */
interface AccountAtSpawn {
  readonly proc: ProcUuid;
  readonly limits: BudgetLimits;
}

/** Of the process itself, and of those above that its record names. */
export function accountsAtSpawn(
  proc: ProcUuid,
  spawned: Partial<Pick<SpawnedBody, "budget" | "limits" | "accounts">>,
): readonly AccountAtSpawn[] {
  const above = spawned.accounts ?? [];
  const own = { proc, limits: limitsAtSpawn(spawned) };
  return [own, ...above.map((each) => ({ proc: each.proc, limits: limitsAtSpawn(each) }))];
}

export async function readAll(
  journal: Journal,
  owners: Iterable<AccountAtSpawn>,
): Promise<ReadonlyMap<ProcUuid, KeptAccount>> {
  const kept = new Map<ProcUuid, KeptAccount>();
  for (const { proc, limits } of owners) {
    if (kept.has(proc)) continue;
    kept.set(proc, await readKept(journal, proc, limits, await journal.row(proc)));
  }
  return kept;
}

/** undefined: nothing is known of it. */
export type KeptOf = (proc: ProcUuid) => KeptAccount | undefined;

/** By whose they are: of the processes in memory, and of those that left it while a call of theirs was under way. */
function limitsOf(core: Core): Map<ProcUuid, Account> {
  const limits = new Map(openLimits(core));
  for (const { seed } of core.table.all())
    for (const account of seed.account.chain())
      if (account.owner !== null) limits.set(account.owner.proc, account);
  return limits;
}

/** What is known of an account that is not in memory, beside what was kept of its use. */
interface Opening {
  readonly atSpawn: BudgetLimits;
  above(): Account;
  readonly spent?: Amounts;
  readonly depth?: number;
  readonly givesAll?: boolean;
}

function most(a: Amounts, b: Amounts): Amounts {
  return {
    tokens: Math.max(a.tokens, b.tokens),
    microUsd: Math.max(a.microUsd, b.microUsd),
    steps: Math.max(a.steps, b.steps),
  };
}

export class Shares {
  readonly #core: Core;
  readonly #limits: Map<ProcUuid, Account>;
  readonly #sessions = new Map<ProcUuid, Session>();
  /** Of a process that is not in memory. */
  readonly #keptOf: KeptOf;

  /** With those that are in use already. */
  constructor(core: Core, keptOf: KeptOf) {
    this.#core = core;
    this.#keptOf = keptOf;
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
  above([nearest, ...more]: KeptAbove["accounts"]): Account {
    if (nearest === undefined) return this.#core.root.seed.account;
    return this.account(nearest, { atSpawn: limitsAtSpawn(nearest), above: () => this.above(more) });
  }

  account({ proc, pid }: RecordOwner, { atSpawn, above, spent: own = NOTHING, ...more }: Opening): Account {
    const known = this.#limits.get(proc);
    if (known !== undefined) return known;
    const kept = this.#keptOf(proc) ?? { ...NOT_KEPT, limits: atSpawn };
    const { limits, spent, children, workedMs, isGranted } = kept;
    const account = new Account(above(), limits, {
      owner: { proc, pid },
      // of one without a limit its own calls may be all that is known
      spent: isLimited(limits) ? spent : most(spent, own),
      children,
      workedMs,
      isGranted,
      ...more,
    });
    this.#limits.set(proc, account);
    return account;
  }
}
