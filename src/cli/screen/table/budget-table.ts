import type { WireBudget } from "../../../abi/methods/budget.ts";
import type { Result } from "../../../abi/methods/methods.ts";
import { counted } from "../../../lib/text/counted.ts";
import { microUsd, shownUsd } from "../../../lib/usd.ts";
import { seconds } from "../text/elapsed.ts";
import { safeLine } from "../text/safe-text.ts";
import { costCell, unpricedWords } from "./process-cells.ts";
import { type Column, table } from "./table.ts";

type Found = Result<"budget.get">;
type Account = Found["accounts"][number];
interface Row {
  readonly account: Account;
  readonly level: number;
  /** Calls without a known price, of this account and all below it. */
  readonly unpriced: number;
}

/** The accounts as a tree, each with its own use and that of its subtree. */
export function budgetTable(accounts: readonly Account[], room?: number): string {
  if (accounts.length === 0) return "No process has an account.";
  return table(COLUMNS, treeOf(accounts), room);
}

const COLUMNS: ReadonlyArray<Column<Row>> = [
  { head: "PID", align: "right", cell: ({ account }) => String(account.pid) },
  {
    head: "NAME",
    align: "left",
    maxColumns: 32,
    cell: ({ account, level }) => `${"  ".repeat(level)}${nameOf(account)}`,
  },
  { head: "TOKENS", align: "right", cell: ({ account }) => String(account.own.tokens) },
  {
    head: "COST",
    align: "right",
    cell: ({ account }) => costCell(account.own.usd, account.own.unpriced_calls),
  },
  { head: "TREE TOKENS", align: "right", cell: ({ account }) => String(account.spent.tokens) },
  {
    head: "TREE COST",
    align: "right",
    cell: ({ account, unpriced }) => costCell(account.spent.usd, unpriced),
  },
  { head: "RESERVED", align: "right", cell: ({ account }) => reserved(account) },
  { head: "LIMITS", align: "left", maxColumns: 60, cell: ({ account }) => limitWords(account.limits) },
  { head: "LEFT", align: "left", cell: leftWords },
];

/** The sum over all shown accounts; empty for a single account. */
export function sumLines(accounts: readonly Account[]): readonly string[] {
  if (accounts.length < 2) return [];
  const tokens = accounts.reduce((sum, { own }) => sum + own.tokens, 0);
  const micro = accounts.reduce((sum, { own }) => sum + microUsd(own.usd), 0);
  return [
    "",
    `${counted(accounts.length, "process", "processes")}: ${tokens} tokens, ${costWords(micro, unpricedOf(accounts))}`,
  ];
}

function costWords(micro: number, unpriced: number): string {
  if (unpriced === 0) return shownUsd(micro);
  return micro === 0 ? unpricedWords(unpriced) : `${shownUsd(micro)} and ${unpricedWords(unpriced)}`;
}

function unpricedOf(accounts: readonly Account[]): number {
  return accounts.reduce((sum, { own }) => sum + (own.unpriced_calls ?? 0), 0);
}

/** An account whose parent is not among those shown becomes a root. */
function treeOf(accounts: readonly Account[]): readonly Row[] {
  const pids = new Set(accounts.map(({ pid }) => pid));
  return accounts.filter(({ ppid }) => !pids.has(ppid)).flatMap((account) => rowsOf(accounts, account, 0));
}

function rowsOf(accounts: readonly Account[], account: Account, level: number): readonly Row[] {
  const children = accounts.filter((each) => each.ppid === account.pid && each !== account);
  const below = children.flatMap((child) => rowsOf(accounts, child, level + 1));
  return [{ account, level, unpriced: unpricedOf([account, ...below.map((row) => row.account)]) }, ...below];
}

function nameOf({ name, intent }: Account): string {
  return safeLine(name === "" ? intent : name);
}

function usd(amount: number): string {
  return shownUsd(microUsd(amount));
}

function reserved({ reserved: { tokens, usd: money } }: Account): string {
  if (tokens === 0 && money === 0) return "-";
  return money === 0 ? String(tokens) : `${tokens} ${usd(money)}`;
}

/** The limits in words; `-` for none. */
function limitWords({ wall_ms: wallMs, usd: money, ...counts }: WireBudget): string {
  const words = [
    ...(money === undefined ? [] : [usd(money)]),
    ...(wallMs === undefined ? [] : [seconds(wallMs)]),
    ...Object.entries(counts).map(([name, count]) => `${count} ${name}`),
  ];
  return words.length === 0 ? "-" : words.join(", ");
}

function leftWords({ account: { left, limits, wall_ms: workedMs, children, concurrent } }: Row): string {
  const { wall_ms: wallMs } = limits;
  const words = [
    ...(left.usd === null ? [] : [usd(left.usd)]),
    ...(left.tokens === null ? [] : [`${left.tokens} tokens`]),
    ...(wallMs === undefined ? [] : [seconds(Math.max(0, wallMs - workedMs))]),
    ...(limits.children === undefined ? [] : [`${Math.max(0, limits.children - children)} children`]),
    ...(limits.concurrent === undefined ? [] : [`${Math.max(0, limits.concurrent - concurrent)} concurrent`]),
  ];
  return words.length === 0 ? "-" : words.join(", ");
}

/** The spending windows, which cover all processes of the user. */
export function windowLines(windows: Found["windows"]): readonly string[] {
  return windows.map(({ unit, limit, spent, per_ms: perMs }) => {
    const amount = (n: number): string => (unit === "usd" ? usd(n) : `${n} tokens`);
    return `in ${seconds(perMs)}: ${amount(spent)} of ${amount(limit)} spent by all processes`;
  });
}

export function limitsLine({ pid, limits }: Result<"budget.set">): string {
  const words = limitWords(limits);
  return `[kernel] PID ${pid}: budget ${words === "-" ? "without limits of its own" : words}`;
}
