import { signalName } from "../../../abi/process.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import { signalOf } from "./kill.ts";

const USAGE = "crux signal <group> <signal>";

/** Sends a signal to all members of a group. */
export const signal: Command = { flags: {}, run };

async function run({ args, console, host }: Call): Promise<number> {
  const [group, name, ...more] = args.words;
  if (group === undefined || group === "" || name === undefined)
    throw invalid("a group and a signal are needed", USAGE);
  if (more.length > 0) throw invalid(`unknown argument: ${more[0]}`, USAGE);
  const signal = signalOf(name);
  const client = await host.daemon.ensure();
  const { reached } = await client.request("group.signal", { group: groupOf(group), signal });
  client.close();
  const sent = signalName(signal);
  if (console.mode === "json") await console.data({ group, signal: sent, reached });
  else if (console.mode !== "quiet")
    await console.line(
      `[kernel] group ${safeLine(group)}: signal sent (${sent}) to ${reached} ${reached === 1 ? "process" : "processes"}`,
    );
  return 0;
}

/** Digits are the number of a group: `crux groups` shows a group without a name that way. */
function groupOf(text: string): string | number {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : text;
}
