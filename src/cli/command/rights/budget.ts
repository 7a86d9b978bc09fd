/** `crux budget`: the limits and the use of processes; sets new limits. */
import type { WireBudget } from "../../../abi/methods/budget.ts";
import type { Params } from "../../../abi/methods/methods.ts";
import { durationFlag, findUsd, usdFlag } from "../../amounts.ts";
import { type Args, pidOf, textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { budgetTable, limitsLine, sumLines, windowLines } from "../../screen/table/budget-table.ts";

const USAGE = "crux budget [<pid>] [--add <amount>] | crux budget set <pid> --tokens <n> --usd <x> …";
const COUNTS = ["tokens", "steps", "depth", "children", "concurrent"] as const;
const LIMITS = [...COUNTS, "usd", "wall"] as const;
/** For these a limit of zero means no limit. */
const FLOWS = ["tokens", "steps"] as const;

export const budget: Command = {
  flags: {
    ...Object.fromEntries(LIMITS.map((name) => [name, { type: "string" as const }])),
    add: { type: "string" },
  },
  run,
};

type Change = Omit<Params<"budget.set">, "pid">;

async function run(call: Call): Promise<number> {
  const { args } = call;
  const change = changeOf(args);
  if (change === undefined) return show(call);
  const isSet = args.words[0] === "set";
  const words = isSet ? args.words.slice(1) : args.words;
  if (words.length > 1) throw invalid(`one pid at a time: ${words.join(" ")}`, USAGE);
  return set(call, pidOf(words[0], USAGE), change);
}

/** undefined: no change requested. */
function changeOf(args: Args): Change | undefined {
  const add = textFlag(args, "add");
  const set = limitsOf(args);
  const isSet = args.words[0] === "set";
  const named = Object.keys(set).length > 0;
  if (isSet && !named) throw invalid(`crux budget set names no limit`, `one of ${flagNames()}`);
  if (named && !isSet) throw invalid("a limit is set with: crux budget set <pid>", USAGE);
  if (add !== undefined) {
    if (isSet) throw invalid("--add is not beside set", USAGE);
    return { add: addedOf(add) };
  }
  return isSet ? { set } : undefined;
}

function limitsOf(args: Args): NonNullable<Change["set"]> {
  const set: Record<string, number | null> = {};
  for (const name of COUNTS) {
    const text = textFlag(args, name);
    if (text === undefined) continue;
    if (text !== "none" && !/^\d{1,15}$/.test(text))
      throw invalid(`--${name} needs a whole number, or none, not ${JSON.stringify(text)}`);
    set[name] = text === "none" ? null : Number(text);
  }
  Object.assign(set, moneyAndTime(args));
  const zero = FLOWS.find((name) => set[name] === 0);
  if (zero !== undefined) throw invalid(`--${zero} 0 is not a limit`, `--${zero} none removes the limit`);
  return set;
}

function moneyAndTime(args: Args): Record<string, number | null> {
  const set: Record<string, number | null> = {};
  if (textFlag(args, "usd") === "none") set.usd = null;
  else {
    const usd = usdFlag(args, "usd");
    if (usd !== undefined) set.usd = usd;
  }
  if (textFlag(args, "wall") === "none") set.wall_ms = null;
  else {
    const ms = durationFlag(args, "wall");
    if (ms !== undefined) set.wall_ms = ms;
  }
  return set;
}

/** `2usd`, `$2`: money; a plain number: tokens. */
function addedOf(text: string): WireBudget {
  if (/^\d{1,15}$/.test(text)) return { tokens: Number(text) };
  const usd = findUsd(text);
  if (usd === undefined)
    throw invalid(`--add needs an amount like 2usd, or a number of tokens, not ${JSON.stringify(text)}`);
  return { usd };
}

function flagNames(): string {
  return LIMITS.map((name) => `--${name}`).join(", ");
}

async function set({ console, host }: Call, pid: number, change: Change): Promise<number> {
  const client = await host.daemon.ensure();
  try {
    const result = await client.request("budget.set", { pid, ...change });
    if (console.mode === "json") await console.data(result);
    else if (console.mode !== "quiet") await console.line(limitsLine(result));
  } finally {
    client.close();
  }
  return 0;
}

async function show({ args, console, host }: Call): Promise<number> {
  if (args.words.length > 1) throw invalid(`one pid at a time: ${args.words.join(" ")}`, USAGE);
  const pid = args.words.length === 0 ? undefined : pidOf(args.words[0], USAGE);
  const client = await host.daemon.ensure();
  try {
    const found = await client.request("budget.get", pid === undefined ? {} : { pid });
    if (console.mode === "json") await console.data(found);
    else if (console.mode === "quiet") {
      if (found.accounts.length > 0) await console.line(found.accounts.map((each) => each.pid).join("\n"));
    } else {
      const { accounts, windows } = found;
      await console.line(
        [budgetTable(accounts, console.room), ...sumLines(accounts), ...windowLines(windows)].join("\n"),
      );
    }
  } finally {
    client.close();
  }
  return 0;
}
