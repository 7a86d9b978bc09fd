/**
 * What the journal keeps of an account, in the history of the process whose it is: its limits in the record of the spawn; its
 * use, and the limits that a person has set since, in the newest `acct.settle`. Who set them is in `acct.limit`.
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

/** The body of `acct.settle`: all of it, not a difference. What is absent is 0. */
export interface KeptUse {
  /** Tokens. */
  readonly used: number;
  /** Millionths of a dollar. */
  readonly usd?: number;
  readonly steps?: number;
  readonly children?: number;
  readonly wallMs?: number;
  readonly windows?: readonly KeptWindow[];
  /** As a person has set them since the spawn; absent: nobody has. */
  readonly limits?: BudgetLimits;
}

export interface KeptAccount {
  readonly limits: BudgetLimits;
  readonly spent: Amounts;
  readonly children: number;
  readonly workedMs: number;
  /** It has or had something to keep: what changes of it is written again. */
  readonly isKept: boolean;
  readonly isGranted: boolean;
}

/** The body of `acct.limit`. */
export interface BudgetGrant {
  readonly budget: BudgetLimits;
  /** Who gave it, in words. */
  readonly by: string;
  readonly given: GrantBy;
}

/** Keys of the record of a spawn: which accounts above its own it spends from, nearest first. */
export interface KeptAbove {
  /** `limit` in tokens, 0 none; `limits` where there are more than that. */
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

/** Of limits, what the number of tokens does not say. */
export function moreLimits(limits: BudgetLimits): { limits?: BudgetLimits } {
  return Object.keys(limits).some((name) => name !== "tokens") ? { limits } : {};
}

export function keptUse(account: Account, mono: number): KeptUse {
  const { spent, children, windows, limits } = account;
  const wallMs = limits.wallMs === undefined ? 0 : Math.round(account.work.ms(mono));
  return {
    used: spent.tokens,
    ...(spent.microUsd === 0 ? {} : { usd: spent.microUsd }),
    ...(limits.steps === undefined ? {} : { steps: spent.steps }),
    ...(children === 0 ? {} : { children }),
    ...(wallMs === 0 ? {} : { wallMs }),
    ...(windows.length === 0 ? {} : { windows: windows.map(({ kept }) => kept) }),
    ...(account.isGranted ? { limits } : {}),
  };
}

/** As it is written again once `more` was spent of it. */
export function useOfKept(
  { spent, children, workedMs, limits, isGranted }: KeptAccount,
  more: Amounts,
): KeptUse {
  const { tokens, microUsd, steps } = plus(spent, more);
  return {
    used: tokens,
    ...(microUsd === 0 ? {} : { usd: microUsd }),
    ...(limits.steps === undefined ? {} : { steps }),
    ...(children === 0 ? {} : { children }),
    ...(workedMs === 0 ? {} : { wallMs: workedMs }),
    ...(isGranted ? { limits } : {}),
  };
}

/** undefined: nobody keeps it, or another way. */
export function useDraft(account: Account, mono: number): JournalDraft | undefined {
  if (account.owner === null) return undefined;
  return { ...account.owner, kind: "acct.settle", v: 1, body: keptUse(account, mono) };
}

/** Its use is worth a record: a limit counts with it. */
export function isKept(account: Account): boolean {
  return isLimited(account.limits) || account.windows.length > 0;
}

export function spentOf({ used, usd = 0, steps = 0 }: KeptUse): Amounts {
  return { tokens: used, microUsd: usd, steps };
}

/** `atSpawn`: its limits then. `row`: its line; undefined: there is none. */
export async function readKept(
  journal: Journal,
  proc: ProcUuid,
  atSpawn: BudgetLimits,
  row: Pick<ProcessRow, "limitUsed" | "tokensUsed" | "lastSeq"> | undefined,
): Promise<KeptAccount> {
  const { limitUsed = 0, tokensUsed = 0, lastSeq = 0 } = row ?? {};
  // of one without limits a record may be there from before its first call; it is looked for where that is soon done
  const isNew = tokensUsed === 0 && lastSeq <= SHORT_HISTORY;
  const mayBeKept = isLimited(atSpawn) || limitUsed > 0 || isNew;
  const newest = mayBeKept ? await journal.newest(proc, "acct.settle") : undefined;
  const use = (newest?.body ?? { used: limitUsed }) as KeptUse;
  const { children = 0, wallMs = 0, limits = atSpawn } = use;
  const isKept = newest !== undefined || isLimited(limits);
  const isGranted = use.limits !== undefined;
  return { limits, spent: spentOf(use), children, workedMs: wallMs, isKept, isGranted };
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

/** Of the record of a spawn, or of an account in it: older ones know tokens alone. */
export interface LimitsAtSpawn {
  readonly limits?: BudgetLimits;
  readonly budget?: number;
  readonly limit?: number;
}

export function limitsAtSpawn(kept: LimitsAtSpawn): BudgetLimits {
  return kept.limits ?? tokenLimit(kept.budget ?? kept.limit ?? 0);
}
