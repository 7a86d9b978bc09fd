import { AUTO_MODE_DEFAULTS, type AutoModeLists } from "../../../abi/permit/auto-mode.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

const USAGE = "crux auto-mode defaults, crux auto-mode config";

/** The rules given to the model of auto mode: the built-in ones, or those in force. */
export const autoMode: Command = { flags: {}, run };

async function run({ args, console, host }: Call): Promise<number> {
  const [word, ...extra] = args.words;
  if (extra.length > 0 || (word !== "defaults" && word !== "config"))
    throw invalid(word === undefined ? "defaults or config?" : `not known: ${args.words.join(" ")}`, USAGE);
  const found = word === "defaults" ? { lists: AUTO_MODE_DEFAULTS } : await inForce(host);
  const { lists, ...rest } = found;
  const { allow, softDeny: soft_deny, environment } = lists;
  if (console.mode === "json") await console.data({ allow, soft_deny, environment, ...rest });
  else if (console.mode === "quiet")
    for (const entry of [...allow, ...soft_deny, ...environment]) await console.line(safeLine(entry));
  else for (const line of linesOf(found)) await console.line(line);
  return 0;
}

interface Found {
  readonly lists: AutoModeLists;
  readonly stage?: string;
  readonly during_plan?: boolean;
}

async function inForce(host: Call["host"]): Promise<Found> {
  const client = await host.daemon.ensure();
  try {
    const { allow, soft_deny: softDeny, environment, ...more } = await client.request("auto_mode.config", {});
    return { lists: { allow, softDeny, environment }, ...more };
  } finally {
    client.close();
  }
}

function linesOf({ lists, stage, during_plan: duringPlan }: Found): string[] {
  const { allow, softDeny, environment } = lists;
  return [
    ...section("Allowed", allow),
    ...section("Blocked, unless you clearly asked for it", softDeny),
    ...section("The surroundings", environment),
    ...(stage === undefined ? [] : [`Stages: ${stage}`]),
    ...(duringPlan === undefined
      ? []
      : [`In plan mode, entered from auto: ${duringPlan ? "judges" : "asks you"}`]),
  ];
}

function section(title: string, entries: readonly string[]): string[] {
  return [`${title} (${entries.length})`, ...entries.map((entry) => `  ${safeLine(entry)}`), ""];
}
