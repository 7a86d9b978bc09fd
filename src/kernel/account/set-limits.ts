/** New limits of an account, set by the user: journalled, with the name of the user, before they apply. */
import type { BudgetLimits } from "../../abi/budget.ts";
import type { GrantBy } from "../../abi/grants.ts";
import type { Account } from "./account.ts";
import type { Accounting } from "./accounting.ts";
import { type BudgetGrant, keptUse } from "./kept-account.ts";
import { limitsChanged } from "./wall-limit.ts";

export function grantBody(budget: BudgetLimits, given: GrantBy): BudgetGrant {
  const { principal, client, uid } = given;
  const more = [...(client === "" ? [] : [`client ${client}`]), ...(uid === null ? [] : [`uid ${uid}`])];
  return { budget, by: more.length === 0 ? principal : `${principal}, ${more.join(", ")}`, given };
}

/** Limits set by a user. */
interface NewLimits {
  readonly limits: BudgetLimits;
  readonly by: GrantBy;
}

export async function setLimits(
  core: Accounting,
  account: Account,
  { limits, by }: NewLimits,
): Promise<void> {
  const body = grantBody(limits, by);
  const { owner } = account;
  if (owner !== null) {
    const use = { ...keptUse(account, core.ports.clock.mono(), limits), limits };
    await core.ports.journal.append([
      { ...owner, kind: "acct.limit", v: 1, body },
      { ...owner, kind: "acct.settle", v: 1, body: use },
    ]);
  }
  account.grant(limits);
  if (owner === null) account.onLimits?.(limits);
  limitsChanged(core, account);
}
