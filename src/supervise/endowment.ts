/**
 * What a child keeps from run to run, so that a restart neither fills its budget again nor gives it rights it had not: its
 * account, its agent as it was first loaded, its permission mode. A nested supervisor keeps that of its children too. As
 * many as the specification has children.
 */
import type { AgentInfo } from "../abi/agent.ts";
import type { Amounts, BudgetLimits } from "../abi/budget.ts";
import type { PermissionMode } from "../abi/process.ts";
import { Account } from "../kernel/account/account.ts";
import { NOTHING } from "../kernel/account/amounts.ts";
import { limitsAtSpawn, moreLimits } from "../kernel/account/kept-account.ts";
import { type KeptAgent, keptAgent, narrowedTo } from "./kept-agent.ts";
import type { KeptEndowment } from "./kept-supervisor.ts";

export class Endowment {
  account: Account | null = null;
  /** Loaded once: who could change an agent file would else give the next run its rights. */
  agent: { readonly info: AgentInfo | null } | null = null;
  mode: PermissionMode | null = null;
  /** Hears what is used of the account, after each call that was paid from it. */
  onUse: ((used: number, usd: number) => void) | null = null;
  /** The same of its limits, when a person has changed them. */
  onLimits: ((limits: BudgetLimits) => void) | null = null;
  /** Of an agent that an earlier daemon loaded: it is loaded again, and gets no more than this. */
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

  /** The account, made at the first start. */
  accountIn(parent: Account, limits: BudgetLimits): Account {
    this.account ??= this.#opened(parent, limits, NOTHING);
    return this.account;
  }

  /** `isPersons`: a person started it. */
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

  /** As an earlier daemon left it. `used`: what that one had counted, and more that was spent since. */
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
