import type { WireRow } from "../../../abi/methods/process.ts";
import { type Args, noWords, textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { look } from "../../run/top-daemon.ts";
import { invalid } from "../../screen/errors.ts";
import { arrange, SORTS, type Sort, type TopRow } from "../../screen/top/rows.ts";
import { TopTable, topHead } from "../../screen/top/table.ts";
import { TokenRates } from "../../screen/top/token-rates.ts";

const USAGE = "crux top [--once] [--sort <key>] [-d <seconds>] [-a]";
const NOTHING = 'Nothing is running. crux "<intent>" starts an agent; crux ps -a lists what has ended.';
const MAX_DELAY_S = 3600;
const MIN_DELAY_S = 0.1;

export const top: Command = {
  flags: {
    once: { type: "boolean" },
    sort: { type: "string" },
    delay: { type: "string", short: "d" },
    all: { type: "boolean", short: "a" },
  },
  run,
};

/** A live table on a terminal; one snapshot elsewhere, or on request. */
async function run(call: Call): Promise<number> {
  const { args, host } = call;
  noWords(args, USAGE);
  const how = { sort: sortOf(args), showsAll: args.flags.has("all") };
  const delayMs = delayOf(args) * 1000;
  const client = await host.daemon.ensure();
  let attached: number | undefined;
  try {
    if (!isLive(call)) await once(call, client, how);
    else attached = await (await import("./top-live.ts")).live(call, client, { ...how, delayMs });
  } finally {
    client.close();
  }
  return attached === undefined ? 0 : host.command(["attach", String(attached)], host);
}

function isLive({ args, console, host }: Call): boolean {
  const { stdin, stdout, env } = host;
  if (args.flags.has("once") || !console.isScreen || env.TERM === "dumb") return false;
  return stdin.isTTY === true && stdout.isTTY === true;
}

async function once(
  { console }: Call,
  client: DaemonClient,
  how: { readonly sort: Sort; readonly showsAll: boolean },
): Promise<void> {
  const snapshot = await look(client, new TokenRates());
  const rows = arrange(snapshot, { ...how, isTree: false, filter: "" });
  switch (console.mode) {
    case "json":
      await console.data({ metrics: snapshot.metrics, processes: rows.map(asData) });
      break;
    case "quiet":
      if (rows.length > 0) await console.line(rows.map(({ row }) => row.pid).join("\n"));
      break;
    case "verbose":
    case "default": {
      const table = new TopTable();
      const lines = rows.length === 0 ? [NOTHING] : [table.head(), ...rows.map((row) => table.row(row))];
      await console.line([...topHead(snapshot, rows), "", ...lines].join("\n"));
    }
  }
}

function asData({ row, rate, children, role, subtreeUsd }: TopRow) {
  const { pid, ppid, name, kind, state, activity, model, tokens_used, elapsed_ms, intent }: WireRow = row;
  const cost_usd = row.cost_usd ?? (row.unpriced_calls ? null : 0);
  const head = { pid, ppid, name, kind, role, state, activity, model };
  return {
    ...head,
    tokens_per_minute: rate,
    tokens_used,
    children,
    elapsed_ms,
    intent,
    cost_usd,
    subtree_cost_usd: subtreeUsd,
  };
}

function sortOf(args: Args): Sort {
  const text = textFlag(args, "sort") ?? SORTS[0];
  const sort = SORTS.find((known) => known === text);
  if (sort === undefined) throw invalid(`cannot sort by: ${text}`, `sort by ${SORTS.join(", ")}`);
  return sort;
}

function delayOf(args: Args): number {
  const text = textFlag(args, "delay") ?? "1";
  const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= MIN_DELAY_S && seconds <= MAX_DELAY_S) return seconds;
  throw invalid(`--delay needs ${MIN_DELAY_S} to ${MAX_DELAY_S} seconds, not ${JSON.stringify(text)}`);
}
