/**
 * Accounts with open reservations, by their owners. A process that was ended by force may be removed, or restored,
 * before its last call is over: until that call is settled, everyone must use this account object. Bounded by the calls
 * in progress.
 */
import type { ProcUuid } from "../../abi/ids.ts";
import type { Account } from "./account.ts";
import type { Accounting } from "./accounting.ts";

const OPEN = new WeakMap<Accounting, Map<ProcUuid, Account>>();

export function openAccounts(core: Accounting): ReadonlyMap<ProcUuid, Account> {
  return OPEN.get(core) ?? new Map();
}

/** Updates the list after a reservation or a settlement in `account`. */
export function keepOpenAccounts(core: Accounting, account: Account): void {
  const open = OPEN.get(core) ?? new Map<ProcUuid, Account>();
  OPEN.set(core, open);
  for (const each of account.chain()) {
    if (each.owner === null) continue;
    if (isHolding(each)) open.set(each.owner.proc, each);
    else open.delete(each.owner.proc);
  }
}

function isHolding({ reserved: { tokens, microUsd, steps } }: Account): boolean {
  return tokens > 0 || microUsd > 0 || steps > 0;
}
