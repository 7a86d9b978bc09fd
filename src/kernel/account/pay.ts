/**
 * Pays for a call: its cost is reserved before it is made, settled when it is over, and journalled in the histories of
 * the processes whose limits it counts against. At a limit, the user may raise it (raise.ts), or the call is refused.
 */
import type { Amounts } from "../../abi/budget.ts";
import type { WritePlan } from "../../abi/device.ts";
import type { Charge } from "../../abi/effects.ts";
import { microUsd, usdOf } from "../../lib/usd.ts";
import type { JournalDraft } from "../ports/journal.ts";
import { type Account, Reservation, type Shortage } from "./account.ts";
import type { Accounting, Payer } from "./accounting.ts";
import { amountsOf } from "./amounts.ts";
import { isKept, useDraft } from "./kept-account.ts";
import { keepOpenAccounts } from "./open-accounts.ts";
import { keepWindows } from "./root-account.ts";

type Paid = Pick<WritePlan, "effects" | "reserve" | "reserveLeast" | "reserveLeastUsd">;

/** undefined: the call costs nothing. */
export function reserve(core: Accounting, { seed }: Payer, paid: Paid): Reservation | Shortage | undefined {
  const { tokens = 0, usd = 0 } = paid.reserve ?? {};
  if (tokens === 0) return undefined;
  const { account } = seed;
  keepWindows(core.root.seed.account, core.ports);
  const steps = isModelCall(paid) ? 1 : 0;
  const wanted = { tokens, microUsd: usd === null ? null : microUsd(usd), steps };
  const leastUsd = paid.reserveLeastUsd === undefined ? usd : paid.reserveLeastUsd;
  const least = { tokens: paid.reserveLeast ?? tokens, microUsd: microUsd(leastUsd ?? 0), steps };
  const got = account.reserve(wanted, least, core.ports.clock.now());
  if (got instanceof Reservation) keepOpenAccounts(core, account);
  return got;
}

/** The reservation as stored in the intent of the call. */
export function reservedBody({ amounts }: Reservation): { reserved: number; reservedUsd?: number } {
  const { tokens, microUsd: usd } = amounts;
  return { reserved: tokens, ...(usd === 0 ? {} : { reservedUsd: usd }) };
}

/** The reservation as passed to the device. */
export function grantedCharge({ amounts }: Reservation, paid: Paid): Charge {
  const isPriced = (paid.reserve?.usd ?? null) !== null;
  return { tokens: amounts.tokens, usd: isPriced ? usdOf(amounts.microUsd) : null };
}

/** A call and the process that pays for it. */
interface Spending {
  readonly core: Accounting;
  readonly self: Payer;
  readonly effectful: Paid;
}

/** Settles the reservation and returns the records of the new use, to be appended together with the call's result. */
export function settle(
  { core, self, effectful }: Spending,
  reservation: Reservation | undefined,
  cost: Charge | undefined,
): readonly JournalDraft[] {
  if (reservation === undefined) return [];
  const { account } = self.seed;
  const used: Amounts = amountsOf(cost ?? { tokens: 0, usd: null }, isModelCall(effectful));
  const top = account.chain().find(({ depth }) => depth === 0);
  const before = top?.spent.microUsd ?? 0;
  reservation.settle(used, core.ports.clock.now());
  if (top !== undefined) remind(core, self, { top, before });
  keepOpenAccounts(core, account);
  return cost === undefined ? [] : useDrafts(core, self);
}

/** Told at the call that passes it, so once for what the user started: the cost only rises. */
function remind(
  { ports, table }: Accounting,
  { cwd }: Payer,
  { top, before }: { readonly top: Account; readonly before: number },
): void {
  const at = ports.budget?.(cwd).reminderUsd;
  const { microUsd: after } = top.spent;
  if (at === undefined || before >= microUsd(at) || after < microUsd(at)) return;
  const words = `cost so far: $${usdOf(after).toFixed(2)} (costReminderUsd is $${at}); nothing is stopped`;
  const payer = [...table.all()].find(({ seed, isLive }) => seed.account === top && isLive);
  payer?.log("warn", words, ports.clock.mono());
}

/** The use of each limit, for the history of the process that has the limit: so it outlives the daemon. */
function useDrafts(core: Accounting, { seed }: Payer): readonly JournalDraft[] {
  return seed.account.chain().flatMap((account): readonly JournalDraft[] => {
    if (!isKept(account)) return [];
    account.onUse?.(account.spent);
    const draft = useDraft(account, core.ports.clock.mono());
    return draft === undefined ? [] : [draft];
  });
}

function isModelCall({ effects }: Paid): boolean {
  return effects.some(({ kind }) => kind === "llm");
}
