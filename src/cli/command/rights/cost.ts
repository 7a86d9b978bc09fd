/** `crux cost`: what was spent, and on what. */
import type { Result } from "../../../abi/methods/methods.ts";
import { durationMs } from "../../../lib/time/span.ts";
import { onePid, textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { costTable } from "../../screen/table/cost-table.ts";

const USAGE = "crux cost [<pid>] [--by <key>] [--since <time>]";
const KEYS = ["call", "pid", "subtree", "model", "tool", "source", "day"] as const;

export const cost: Command = { flags: { by: { type: "string" }, since: { type: "string" } }, run };

async function run({ args, console, host }: Call): Promise<number> {
  const pid = args.words.length === 0 ? undefined : onePid(args, USAGE);
  const text = textFlag(args, "by") ?? "pid";
  const by = KEYS.find((key) => key === text);
  if (by === undefined) throw invalid(`cost cannot be shown by ${text}`, `by: ${KEYS.join(", ")}`);
  const since = sinceOf(textFlag(args, "since"));
  const client = await host.daemon.ensure();
  try {
    // the sum is the same by any key, but that subtrees hold one another
    const key = console.mode === "quiet" ? "pid" : by;
    const found = await client.request("cost.get", {
      by: key,
      ...(since === undefined ? {} : { since }),
      ...(pid === undefined ? {} : { pid }),
    });
    if (console.mode === "json") await console.data(found);
    else if (console.mode === "quiet") await console.line(sumOf(found.lines));
    else await console.line(costTable(found, console.room));
  } finally {
    client.close();
  }
  return 0;
}

/** `?`: no call has a known price. */
function sumOf(lines: Result<"cost.get">["lines"]): string {
  const isKnown = lines.length === 0 || lines.some(({ calls, unpriced }) => unpriced < calls);
  return isKnown ? String(lines.reduce((sum, { usd }) => sum + usd, 0)) : "?";
}

/** Wall clock, ms. */
function sinceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ago = durationMs(text);
  if (ago !== undefined) return Math.max(0, Date.now() - ago);
  const at = /^\d{4}-\d{2}-\d{2}/.test(text)
    ? new Date(text.length === 10 ? `${text}T00:00` : text).getTime()
    : Number.NaN;
  if (Number.isFinite(at)) return Math.max(0, at);
  throw invalid(`--since needs a day like 2026-11-22, or a time ago like 12h, not ${JSON.stringify(text)}`);
}
