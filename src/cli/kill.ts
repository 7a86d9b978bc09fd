import { parseSignal, SIGNALS, signalName } from "../abi/process.ts";
import { type Args, onePid, textFlag } from "./args.ts";
import type { Call, Command } from "./command.ts";
import { invalid } from "./screen/errors.ts";

const USAGE = "crux kill [-s <signal>] <pid>";

export const kill: Command = { flags: { signal: { type: "string", short: "s" } }, run };

async function run({ args, console, host }: Call): Promise<number> {
  const pid = onePid(args, USAGE);
  const signal = signalOf(args);
  const client = await host.daemon.ensure();
  await client.request("kill", { pid, signal });
  client.close();
  const name = signalName(signal);
  if (console.mode === "json") await console.data({ pid, signal: name });
  else if (console.mode !== "quiet") await console.line(`[kernel] PID ${pid}: signal sent (${name})`);
  return 0;
}

function signalOf(args: Args) {
  if (!args.flags.has("signal")) return SIGNALS.SIGTERM;
  const text = textFlag(args, "signal") ?? "";
  const signal = parseSignal(text);
  if (signal === undefined)
    throw invalid(`unknown signal: ${text}`, `signals: ${Object.keys(SIGNALS).join(", ")}, or 1 to 5`);
  return signal;
}
