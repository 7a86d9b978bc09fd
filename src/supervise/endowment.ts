/**
 * What a child keeps from run to run, so that a restart neither refills its budget nor adds rights: its account, its
 * agent as first loaded, its permission mode. A nested supervisor keeps the endowments of its children, too. Bounded by
 * the number of children in the specification.
 */
import type { AgentInfo } from "../abi/agent.ts";
import type { Amounts, BudgetLimits } from "../abi/budget.ts";
import type { PermissionMode } from "../abi/process.ts";
import { Account } from "../kernel/account/account.ts";
import { NOTHING } from "../kernel/account/amounts.ts";
import { limitsAtSpawn, moreLimits } from "../kernel/account/kept-account.ts";
import { type KeptAgent, keptAgent, narrowedTo } from "./record/kept-agent.ts";
import type { KeptEndowment } from "./record/kept-supervisor.ts";

export class Endowment {
  account: Account | null = null;
  /** Loaded once, so that a changed agent file cannot give the next run more rights. */
  agent: { readonly info: AgentInfo | null } | null = null;
  mode: PermissionMode | null = null;
  /** Called with the use of the account after each call that was paid from it. */
  onUse: ((used: number, usd: number) => void) | null = null;
  /** Called with the limits of the account when the user has changed them. */
  onLimits: ((limits: BudgetLimits) => void) | null = null;
  /** Bounds for an agent that an earlier daemon loaded: it is loaded again, with no more rights than these. */
  #bounds: KeptAgent | null = null;
  #children: Map<string, Endowment> | null = null;

  of(id: string): Endowment {
    this.#children ??= new Map();
    const known = this.#children.get(id) ?? new Endowment();
    this.#children.set(id, known);
    return known;
  }

  forget(id: string): void {
    this.#children?.delete(id);
  }

  /** The account; it is created at the first start. */
  accountIn(parent: Account, limits: BudgetLimits): Account {
    this.account ??= this.#opened(parent, limits, NOTHING);
    return this.account;
  }

  /** `isPersons`: the user started the supervisor. */
  takeAgent(info: AgentInfo | null, isPersons: boolean): AgentInfo | null {
    const bounds = this.#bounds;
    const own = info === null || bounds === null ? info : narrowedTo(info, bounds, isPersons);
    this.agent = { info: own };
    return own;
  }

  get kept(): KeptEndowment {
    const { account, mode, agent } = this;
    const limit = account?.limit ?? null;
    const more = moreLimits(account?.limits ?? {});
    const { tokens: used, microUsd: usd } = account?.spent ?? NOTHING;
    const info = agent?.info ?? null;
    return {
      limit,
      ...more,
      used,
      ...(usd === 0 ? {} : { usd }),
      mode,
      agent: info === null ? this.#bounds : keptAgent(info),
    };
  }

  /** Restores what an earlier daemon recorded. `spent`: the recorded use, and what was spent after that record. */
  restore(kept: KeptEndowment, parent: Account, spent: Amounts): void {
    if (kept.limit !== null) this.account = this.#opened(parent, limitsAtSpawn(keptLimits(kept)), spent);
    this.mode = kept.mode;
    this.#bounds = kept.agent;
  }

  #opened(parent: Account, limits: BudgetLimits, spent: Amounts): Account {
    const account = new Account(parent, limits, { spent });
    account.onUse = ({ tokens, microUsd }) => this.onUse?.(tokens, microUsd);
    account.onLimits = (limits) => this.onLimits?.(limits);
    return account;
  }
}

export function keptLimits({ limit, limits }: KeptEndowment): { limit: number; limits?: BudgetLimits } {
  return { limit: limit ?? 0, ...(limits === undefined ? {} : { limits }) };
}
