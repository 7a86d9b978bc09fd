import type { WireLabel } from "../../../abi/methods/rights.ts";
import { noWords, pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

const USAGE = "crux label <pid> | crux label clear <pid> <source>";

/** The labels for the origin of what a process has read: listed, or cleared by the user. */
export const label: Command = { flags: {}, run };

function run(call: Call): Promise<number> {
  return call.args.words[0] === "clear" ? clear(call) : list(call);
}

async function list(call: Call): Promise<number> {
  const { args, host } = call;
  const [word, ...more] = args.words;
  if (word === undefined) throw invalid("which process? crux ps lists them", USAGE);
  noWords({ ...args, words: more }, USAGE);
  const client = await host.daemon.ensure();
  const found = await client.request("label.list", { pid: pidOf(word, USAGE) });
  client.close();
  await tell(call, found, `Process ${found.pid} has no labels.`);
  return 0;
}

async function clear(call: Call): Promise<number> {
  const { args, host, console } = call;
  const [, word, which, ...more] = args.words;
  if (word === undefined || which === undefined)
    throw invalid("which process, and which source? crux label <pid> lists them", USAGE);
  noWords({ ...args, words: more }, USAGE);
  const client = await host.daemon.ensure();
  const left = await client.request("label.clear", { pid: pidOf(word, USAGE), which });
  client.close();
  if (console.mode === "default" || console.mode === "verbose")
    await console.line(`[kernel] labels of process ${left.pid} taken away: ${safeLine(which)}`);
  await tell(call, left, "");
  return 0;
}

async function tell(
  { console }: Call,
  found: { readonly pid: number; readonly labels: readonly WireLabel[] },
  none: string,
): Promise<void> {
  const { labels } = found;
  if (console.mode === "json") await console.data(found);
  else if (labels.length > 0) await console.line(labels.map((each) => shown(each, console.mode)).join("\n"));
  else if (none !== "" && console.isScreen) await console.line(none);
}

function shown({ kind, source, detail }: WireLabel, mode: Call["console"]["mode"]): string {
  return mode === "quiet" ? `${kind} ${source}` : `${kind}  ${source}  ${safeLine(detail)}`;
}
