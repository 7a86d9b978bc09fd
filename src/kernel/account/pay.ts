/**
 * What a call costs: set aside before it is made, settled when it is over, and kept in the histories of those whose limits it
 * counts against. Where a limit is reached, a person may raise it (raise.ts), or the call is refused.
 */
import type { Amounts } from "../../abi/budget.ts";
import type { WritePlan } from "../../abi/device.ts";
import type { Charge } from "../../abi/effects.ts";
import { microUsd, usdOf } from "../../lib/usd.ts";
import type { Core } from "../core.ts";
import type { JournalDraft } from "../ports/journal.ts";
import type { Process } from "../process/process.ts";
import { Reservation, type Shortage } from "./account.ts";
import { amountsOf } from "./amounts.ts";
import { isKept, useDraft } from "./kept-account.ts";
import { keepOpenLimits } from "./open-limits.ts";
import { keepWindows } from "./root-account.ts";

type Paid = Pick<WritePlan, "effects" | "reserve" | "reserveLeast" | "reserveLeastUsd">;

/** undefined: it costs nothing. */
export function reserve(core: Core, { seed }: Process, paid: Paid): Reservation | Shortage | undefined {
  const { tokens = 0, usd = 0 } = paid.reserve ?? {};
  if (tokens === 0) return undefined;
  const { account } = seed;
  keepWindows(core.root.seed.account, core.ports);
  const steps = isModelCall(paid) ? 1 : 0;
  const wanted = { tokens, microUsd: usd === null ? null : microUsd(usd), steps };
  const leastUsd = paid.reserveLeastUsd === undefined ? usd : paid.reserveLeastUsd;
  const least = { tokens: paid.reserveLeast ?? tokens, microUsd: microUsd(leastUsd ?? 0), steps };
  const got = account.reserve(wanted, least, core.ports.clock.now());
  if (got instanceof Reservation) keepOpenLimits(core, account);
  return got;
}

/** As the intent of the call keeps it. */
export function reservedBody({ amounts }: Reservation): { reserved: number; reservedUsd?: number } {
  const { tokens, microUsd: usd } = amounts;
  return { reserved: tokens, ...(usd === 0 ? {} : { reservedUsd: usd }) };
}

/** As the device is told. */
export function grantedCharge({ amounts }: Reservation, paid: Paid): Charge {
  const isPriced = (paid.reserve?.usd ?? null) !== null;
  return { tokens: amounts.tokens, usd: isPriced ? usdOf(amounts.microUsd) : null };
}

/** Who spends on what. */
interface Spending {
  readonly core: Core;
  readonly self: Process;
  readonly effectful: Paid;
}

/** Settles, and says what is to be kept of that: one unit with the result of the call. */
export function settle(
  { core, self, effectful }: Spending,
  reservation: Reservation | undefined,
  cost: Charge | undefined,
): readonly JournalDraft[] {
  if (reservation === undefined) return [];
  const { account } = self.seed;
  const used: Amounts = amountsOf(cost ?? { tokens: 0, usd: null }, isModelCall(effectful));
  reservation.settle(used, core.ports.clock.now());
  keepOpenLimits(core, account);
  return cost === undefined ? [] : useDrafts(core, self);
}

/** What is used of a limit outlives the daemon, in the history of the process whose limit it is. */
function useDrafts(core: Core, { seed }: Process): readonly JournalDraft[] {
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
