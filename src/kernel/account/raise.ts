/**
 * Calls that reach a limit. An attached user raises the limit or refuses: one question per account, and other calls at
 * the limit of that account wait for the same answer. Without an answer nothing is raised. At the limit of a window, a
 * process without an attached user may wait until the window has room again.
 */
import type { BudgetLimits } from "../../abi/budget.ts";
import { SyscallError } from "../../abi/errors.ts";
import type { GrantBy } from "../../abi/grants.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { AskedQuestion } from "../../abi/wire-events.ts";
import { abortable } from "../../lib/abort.ts";
import { microUsd, shownUsd } from "../../lib/usd.ts";
import type { Account, Shortage } from "./account.ts";
import type { Accounting, Answering, Payer } from "./accounting.ts";
import type { Flow } from "./amounts.ts";
import { guidanceOf, refusalOf, refusalWords } from "./refusal.ts";
import { setLimits } from "./set-limits.ts";

/** `void`: the call that asked for all has ended; the others try again, and one of them asks anew. */
type Outcome = "raised" | "stopped" | "void";

const OPEN = new WeakMap<Accounting, Map<Account, Promise<Outcome>>>();

/** A call that cannot be paid for now, and waits. */
interface Short {
  readonly core: Accounting;
  readonly self: Payer;
  readonly effectful: { readonly syscall: string; readonly device: string };
  readonly signal: AbortSignal;
}

/** Resolves when the call may be tried again: whoever has started others waits for their open calls. BUDGET: it may not. CANCELLED: the caller gave up. */
export async function relieved(short: Short, shortage: Shortage): Promise<void> {
  const { core, self } = short;
  const policy = core.ports.budget?.();
  const { account, window } = shortage;
  if (self.seed.account.isHeldBelow(shortage))
    return self.halt.quiescence.suspend(account.nextSettlement(shortage, short.signal));
  if (window !== undefined && policy?.onWindow === "wait" && !core.asks.canAsk(self)) {
    const resetsAt = window.resetsAt(shortage.asked, shortage.reserved, core.ports.clock.now());
    if (resetsAt !== null) return untilReset(short, shortage, resetsAt);
  }
  // not asked: windows are set in the settings alone, and no raise helps against an unknown price
  const isAsked = window === undefined && shortage.isUnpriced !== true && account.owner !== null;
  if (isAsked && asksAtLimit(core, self)) {
    const outcome = await blocked(self, () => oneQuestion(short, shortage));
    if (outcome !== "stopped") return;
  }
  throw refused(short, shortage);
}

/** Whether the user is asked at a limit. */
export function asksAtLimit(core: Accounting, self: Payer): boolean {
  return (core.ports.budget?.().onLimit ?? "ask") === "ask" && core.asks.canAsk(self);
}

function refused({ core, self, effectful }: Short, shortage: Shortage): SyscallError {
  const { syscall, device } = effectful;
  const now = core.ports.clock.now();
  const details = refusalOf(shortage, now);
  const message = refusalWords(shortage, self.pid, now);
  const told = { message, details, ...guidanceOf(shortage) };
  return new SyscallError({ syscall, pid: self.pid, device, code: "BUDGET", ...told });
}

async function untilReset(
  { core, self, signal }: Short,
  shortage: Shortage,
  resetsAt: number,
): Promise<void> {
  const { clock } = core.ports;
  self.log("warn", `waits: ${refusalWords(shortage, self.pid, clock.now())}`, clock.mono());
  await blocked(self, () => clock.sleep(Math.max(1, resetsAt - clock.now()), signal));
}

/** Runs `act` as a wait for the user: its time does not count. */
function blocked<T>(self: Payer, act: () => Promise<T>): Promise<T> {
  return self.halt.asking(() => self.halt.quiescence.suspend(act()));
}

async function oneQuestion(short: Short, shortage: Shortage): Promise<Outcome> {
  const { core, signal } = short;
  const { account } = shortage;
  const open = OPEN.get(core) ?? new Map<Account, Promise<Outcome>>();
  OPEN.set(core, open);
  const known = open.get(account);
  if (known !== undefined) return abortable(known, signal);
  const question = ask(short, shortage);
  // the calls that wait for it get no abort but their own
  const shared = question.catch((): Outcome => "void");
  open.set(account, shared);
  try {
    return await question;
  } finally {
    open.delete(account);
  }
}

async function ask({ core, self, signal }: Short, shortage: Shortage): Promise<Outcome> {
  const { account, unit } = shortage;
  const more = offered(shortage);
  const shown = unit === "microUsd" ? shownUsd(more) : `${more} ${unit}`;
  const asked: AskedQuestion = {
    text: `raise the limit of process ${account.owner?.pid ?? 0} by ${shown}`,
    options: ["yes", "no"],
    detail: refusalWords(shortage, self.pid, core.ports.clock.now()),
    path: core.table.lineOf(self),
    amount: { unit: unit === "microUsd" ? "usd" : unit, offered: shown },
  };
  // the answer is accepted once the new limit is journalled
  const close: Answering["close"] = async (_ask, reply, by) => {
    if (reply.answer === "yes")
      await raise(core, shortage, { by, more: amountOf(unit, reply.words) ?? more });
    return "";
  };
  const given = await core.asks.ask(self, asked, { signal, close });
  return given.nobody !== undefined || given.answer === "no" ? "stopped" : "raised";
}

/** undefined: no amount was given. INVALID: not an amount of this unit. */
function amountOf(unit: Flow, words = ""): number | undefined {
  if (words.trim() === "") return undefined;
  const amount = amountIn(words, unit === "microUsd" ? "usd" : "tokens");
  if (amount !== undefined && amount > 0) return amount;
  const like = unit === "microUsd" ? "2usd or $0.50" : "50000 or 50k";
  const message = `not an amount to raise this limit by: ${words.slice(0, 100)}; it is written like ${like}`;
  throw new SyscallError({ syscall: "Answer", pid: PID_KERNEL, code: "INVALID", message });
}

const SCALES: Readonly<Record<string, number>> = { "": 1, k: 1_000, m: 1_000_000 };

/**
 * An amount as written by the user: `2usd`, `$0.50`, `+50000`, `50k tokens`. Money in millionths of a dollar;
 * undefined: not an amount.
 */
function amountIn(text: string, unit: "usd" | "tokens"): number | undefined {
  const words = text
    .trim()
    .toLowerCase()
    .replace(/^\+\s*/, "");
  if (unit === "usd") {
    const [, count] = /^\$?(\d{1,9}(?:\.\d{1,6})?)\s*(?:usd|\$)?$/.exec(words) ?? [];
    return count === undefined ? undefined : microUsd(Number(count));
  }
  const [, count, scale = ""] = /^(\d{1,12}(?:\.\d{1,3})?)([km]?)\s*(?:tokens|steps)?$/.exec(words) ?? [];
  return count === undefined ? undefined : Math.round(Number(count) * (SCALES[scale] ?? 1));
}

/** An answer of the user. */
interface Raised {
  readonly by: GrantBy;
  readonly more: number;
}

async function raise(core: Accounting, { account, unit }: Shortage, { by, more }: Raised): Promise<void> {
  core.journalWatch.check("Answer");
  const limits: BudgetLimits = { ...account.limits, [unit]: (account.limits[unit] ?? 0) + more };
  await setLimits(core, account, { limits, by });
}

/** The offered raise: as much as the limit itself, and at least what the call needs. */
function offered({ account, unit, used, reserved, asked }: Shortage): number {
  const limit = account.limits[unit] ?? 0;
  return Math.max(limit, Math.ceil((used + reserved + asked) / 0.9) - limit);
}
