/** Restores what processes share: limits and the grants of a session, also where their owner has ended. */
import type { Amounts, BudgetLimits } from "../../abi/budget.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import { Account } from "../../kernel/account/account.ts";
import type { Accounting } from "../../kernel/account/accounting.ts";
import { isLimited, NOTHING } from "../../kernel/account/amounts.ts";
import {
  type AccountAtSpawn,
  type KeptAbove,
  type KeptAccount,
  limitsAtSpawn,
  NOT_KEPT,
  readKept,
} from "../../kernel/account/kept-account.ts";
import { openAccounts } from "../../kernel/account/open-accounts.ts";
import { most } from "../../kernel/account/tree-spent.ts";
import type { Journal, RecordOwner } from "../../kernel/ports/journal.ts";
import type { SpawnedBody } from "../../kernel/process/kept-state.ts";
import type { Process } from "../../kernel/process/process.ts";
import { Session } from "../../kernel/process/session.ts";

/** What restoring shared limits needs of the kernel. */
export type Sharing = {
  readonly root: Process;
  readonly table: { all(): Iterable<Process> };
} & Accounting;

/** The recorded use of limits. Accounts in memory are more recent: `Shares` prefers them. */
export class LimitsRead {
  readonly #core: Sharing;
  readonly #owners: readonly AccountAtSpawn[];
  #inMemory: ReadonlyMap<ProcUuid, Account> = new Map();
  #kept: ReadonlyMap<ProcUuid, KeptAccount> = new Map();

  constructor(core: Sharing, owners: readonly AccountAtSpawn[]) {
    this.#core = core;
    this.#owners = owners;
  }

  async read(): Promise<void> {
    const { journal } = this.#core.ports;
    this.#inMemory = limitsOf(this.#core);
    await journal.sync().catch(() => {});
    this.#kept = await readAll(journal, this.#owners);
  }

  /** An account left memory since it was read, so the recorded use may be too low: read again. */
  get isStale(): boolean {
    const now = limitsOf(this.#core);
    return this.#owners.some(({ proc }) => this.#inMemory.has(proc) && !now.has(proc));
  }

  get keptOf(): KeptOf {
    return (proc) => this.#kept.get(proc);
  }
}

/** The account of the process itself, and those above that its spawn record names. */
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
    kept.set(proc, await readKept(journal, { proc, limits }, await journal.row(proc)));
  }
  return kept;
}

/** undefined: no use is known. */
export type KeptOf = (proc: ProcUuid) => KeptAccount | undefined;

/** Accounts by owner: those of processes in memory, and of processes that left memory while a call was in progress. */
function limitsOf(core: Sharing): Map<ProcUuid, Account> {
  const limits = new Map(openAccounts(core));
  for (const { seed } of core.table.all())
    for (const account of seed.account.chain())
      if (account.owner !== null) limits.set(account.owner.proc, account);
  return limits;
}

/** What is known of an account that is not in memory, beside its recorded use. */
interface Opening {
  readonly atSpawn: BudgetLimits;
  above(): Account;
  readonly spent?: Amounts;
  readonly depth?: number;
  readonly givesAll?: boolean;
}

export class Shares {
  readonly #core: Sharing;
  readonly #limits: Map<ProcUuid, Account>;
  readonly #sessions = new Map<ProcUuid, Session>();
  /** The recorded use of the account of a process that is not in memory. */
  readonly #keptOf: KeptOf;

  /** Begins with the accounts and sessions in memory. */
  constructor(core: Sharing, keptOf: KeptOf) {
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

  /** The nearest account above a process, linked to those further above. */
  above([nearest, ...more]: KeptAbove["accounts"]): Account {
    if (nearest === undefined) return this.#core.root.seed.account;
    return this.account(nearest, { atSpawn: limitsAtSpawn(nearest), above: () => this.above(more) });
  }

  account({ proc, pid }: RecordOwner, { atSpawn, above, spent: own = NOTHING, ...more }: Opening): Account {
    const known = this.#limits.get(proc);
    if (known !== undefined) return known;
    const kept = this.#keptOf(proc) ?? { ...NOT_KEPT, limits: atSpawn };
    const { limits, spent, children, started = [], workedMs, isGranted } = kept;
    const account = new Account(above(), limits, {
      owner: { proc, pid },
      // without a limit, what the rows tell may be the only known use
      spent: isLimited(limits) ? spent : most(spent, own),
      children,
      started,
      workedMs,
      isGranted,
      ...more,
    });
    this.#limits.set(proc, account);
    return account;
  }
}
