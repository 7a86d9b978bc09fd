/**
 * An account as journalled in the history of its owner: the limits at the spawn are in the record of the spawn; the
 * use, and limits that the user has set since, are in the newest `acct.settle`. Who set them is in `acct.limit`.
 */

import type { Amounts, BudgetLimits } from "../../abi/budget.ts";
import type { GrantBy } from "../../abi/grants.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import {
  type Journal,
  type JournalDraft,
  KERNEL_UUID,
  type ProcessRow,
  type RecordOwner,
} from "../ports/journal.ts";
import type { Account } from "./account.ts";
import { isLimited, NOTHING, plus, tokenLimit } from "./amounts.ts";
import type { KeptWindow } from "./window.ts";

/** The body of `acct.settle`: totals, not differences. Absent numbers are 0. */
export interface KeptUse {
  /** Tokens. */
  readonly used: number;
  /** Millionths of a dollar. */
  readonly usd?: number;
  readonly steps?: number;
  readonly children?: number;
  readonly started?: KeptWindow["buckets"];
  readonly wallMs?: number;
  readonly windows?: readonly KeptWindow[];
  /** The limits that the user has set since the spawn; absent: none set. */
  readonly limits?: BudgetLimits;
}

export interface KeptAccount {
  readonly limits: BudgetLimits;
  readonly spent: Amounts;
  readonly children: number;
  readonly started?: KeptWindow["buckets"];
  readonly workedMs: number;
  /** Its use is journalled, so later changes must be journalled too. */
  readonly isKept: boolean;
  readonly isGranted: boolean;
}

/** The body of `acct.limit`. */
export interface BudgetGrant {
  readonly budget: BudgetLimits;
  /** Who set it, in words. */
  readonly by: string;
  readonly given: GrantBy;
}

/** Keys in the record of a spawn: the accounts above its own from which the process spends, nearest first. */
export interface KeptAbove {
  /** `limit` in tokens, 0 for none; `limits` only if there are others than tokens. */
  readonly accounts: readonly (RecordOwner & { readonly limit: number; readonly limits?: BudgetLimits })[];
}

export function keptAbove({ parent }: Account): KeptAbove {
  const above = parent?.chain() ?? [];
  return {
    accounts: above.flatMap(({ owner, limit, limits }) =>
      owner === null || owner.proc === KERNEL_UUID ? [] : [{ ...owner, limit, ...moreLimits(limits) }],
    ),
  };
}

/** The limits as a key of a record, if they contain more than tokens. */
export function moreLimits(limits: BudgetLimits): { limits?: BudgetLimits } {
  return Object.keys(limits).some((name) => name !== "tokens") ? { limits } : {};
}

/** `limits`: those that hold from this record on, which say what is counted. */
export function keptUse(account: Account, mono: number, limits = account.limits): KeptUse {
  const { spent, children, windows } = account;
  const started = account.started.kept.buckets;
  const wallMs = limits.wallMs === undefined ? 0 : Math.round(account.work.ms(mono));
  return {
    used: spent.tokens,
    ...(spent.microUsd === 0 ? {} : { usd: spent.microUsd }),
    ...(limits.steps === undefined ? {} : { steps: spent.steps }),
    ...(children === 0 ? {} : { children }),
    ...(started.length === 0 ? {} : { started }),
    ...(wallMs === 0 ? {} : { wallMs }),
    ...(windows.length === 0 ? {} : { windows: windows.map(({ kept }) => kept) }),
    ...(account.isGranted ? { limits } : {}),
  };
}

/** The body of the next record after `more` was spent. */
export function useOfKept(
  { spent, children, started, workedMs, limits, isGranted }: KeptAccount,
  more: Amounts,
): KeptUse {
  const { tokens, microUsd, steps } = plus(spent, more);
  return {
    used: tokens,
    ...(microUsd === 0 ? {} : { usd: microUsd }),
    ...(limits.steps === undefined ? {} : { steps }),
    ...(children === 0 ? {} : { children }),
    ...(started === undefined ? {} : { started }),
    ...(workedMs === 0 ? {} : { wallMs: workedMs }),
    ...(isGranted ? { limits } : {}),
  };
}

/** undefined: the account has no owner, so it is journalled elsewhere or not at all. */
export function useDraft(account: Account, mono: number): JournalDraft | undefined {
  if (account.owner === null) return undefined;
  return { ...account.owner, kind: "acct.settle", v: 1, body: keptUse(account, mono) };
}

/** Whether its use must be journalled, because a limit depends on it. */
export function isKept(account: Account): boolean {
  return isLimited(account.limits) || account.windows.length > 0;
}

export function spentOf({ used, usd = 0, steps = 0 }: KeptUse): Amounts {
  return { tokens: used, microUsd: usd, steps };
}

/** An account, with the limits it had when the process that names it was spawned. */
export interface AccountAtSpawn {
  readonly proc: ProcUuid;
  readonly limits: BudgetLimits;
}

/** `row`: the row of the process; undefined: none. */
export async function readKept(
  journal: Journal,
  { proc, limits: atSpawn }: AccountAtSpawn,
  row: Pick<ProcessRow, "limitUsed" | "tokensUsed" | "lastSeq"> | undefined,
): Promise<KeptAccount> {
  const { limitUsed = 0, tokensUsed = 0, lastSeq = 0 } = row ?? {};
  // a process without limits may have a record from before its first call; searched only in a short history
  const isNew = tokensUsed === 0 && lastSeq <= SHORT_HISTORY;
  const mayBeKept = isLimited(atSpawn) || limitUsed > 0 || isNew;
  const newest = mayBeKept ? await journal.newest(proc, "acct.settle") : undefined;
  const use = (newest?.body ?? { used: limitUsed }) as KeptUse;
  const { children = 0, started, wallMs = 0, limits = atSpawn } = use;
  const isKept = newest !== undefined || isLimited(limits);
  const isGranted = use.limits !== undefined;
  const today = started === undefined ? {} : { started };
  return { limits, spent: spentOf(use), children, ...today, workedMs: wallMs, isKept, isGranted };
}

/** Records. */
const SHORT_HISTORY = 2_000;

export const NOT_KEPT: KeptAccount = {
  limits: {},
  spent: NOTHING,
  children: 0,
  workedMs: 0,
  isKept: false,
  isGranted: false,
};

/** The limits in the record of a spawn, or of an account in it; older records have tokens alone. */
export interface LimitsAtSpawn {
  readonly limits?: BudgetLimits;
  readonly budget?: number;
  readonly limit?: number;
}

export function limitsAtSpawn(kept: LimitsAtSpawn): BudgetLimits {
  return kept.limits ?? tokenLimit(kept.budget ?? kept.limit ?? 0);
}
