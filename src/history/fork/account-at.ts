/** What a fork has of a budget: the limits and the use that its origin had at that step, so that a fork fills nothing again. */
import type { BudgetLimits } from "../../abi/budget.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import { isLimited } from "../../kernel/account/amounts.ts";
import { type KeptUse, limitsAtSpawn, moreLimits } from "../../kernel/account/kept-account.ts";
import type { Journal, JournalDraft, RecordOwner } from "../../kernel/ports/journal.ts";
import type { SpawnedBody } from "../recover/kept-state.ts";
import { recordsOfLineage } from "./lineage.ts";

export interface AccountAt {
  readonly budget: number;
  readonly limits?: BudgetLimits;
  /** undefined: nothing was kept of it. */
  readonly use: KeptUse | undefined;
}

/** CONFLICT, NOT_FOUND: as of a history that cannot be read. */
export async function accountAt(
  journal: Journal,
  { proc, seq }: { readonly proc: ProcUuid; readonly seq: number },
  spawned: SpawnedBody,
): Promise<AccountAt> {
  let use: KeptUse | undefined;
  for await (const record of recordsOfLineage(journal, proc)) {
    if (record.proc === proc && record.seq > seq) break;
    if (record.kind === "acct.settle") use = record.body as KeptUse;
  }
  const limits = use?.limits ?? limitsAtSpawn(spawned);
  return { budget: limits.tokens ?? 0, ...moreLimits(limits), use };
}

/** The first record of its account. */
export function useAtDrafts(own: RecordOwner, { budget, limits = {}, use }: AccountAt): JournalDraft[] {
  if (use === undefined || (budget === 0 && !isLimited(limits))) return [];
  // what is said in the record of its spawn need not be said again
  const { limits: _, ...body } = use;
  return [{ ...own, kind: "acct.settle", v: 1, body }];
}
