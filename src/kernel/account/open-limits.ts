/**
 * Accounts from which something is set aside, by whose they are. A process that was ended by force may be gone, or back, before
 * its last call is over: until that is settled its limit is the one account, for whoever comes. As many as calls under way.
 */
import type { ProcUuid } from "../../abi/ids.ts";
import type { Core } from "../core.ts";
import type { Account } from "./account.ts";

const OPEN = new WeakMap<Core, Map<ProcUuid, Account>>();

export function openLimits(core: Core): ReadonlyMap<ProcUuid, Account> {
  return OPEN.get(core) ?? new Map();
}

/** Something was set aside from `account`, or settled. */
export function keepOpenLimits(core: Core, account: Account): void {
  const open = OPEN.get(core) ?? new Map<ProcUuid, Account>();
  OPEN.set(core, open);
  for (const limit of account.chain()) {
    if (limit.owner === null) continue;
    if (isHolding(limit)) open.set(limit.owner.proc, limit);
    else open.delete(limit.owner.proc);
  }
}

function isHolding({ reserved: { tokens, microUsd, steps } }: Account): boolean {
  return tokens > 0 || microUsd > 0 || steps > 0;
}
