import { parseSignal, SIGNALS, type Signal, signalName } from "../../../abi/process.ts";
import { onePid, textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { signalProcess, TREE_FLAG } from "./signal-process.ts";

const USAGE = "crux kill [-s <signal>] [--tree] <pid>";

export const kill: Command = { flags: { signal: { type: "string", short: "s" }, ...TREE_FLAG }, run };

async function run(call: Call): Promise<number> {
  const { args, console, host } = call;
  const pid = onePid(args, USAGE);
  const signal = args.flags.has("signal") ? signalOf(textFlag(args, "signal") ?? "") : SIGNALS.SIGTERM;
  const client = await host.daemon.ensure();
  if (args.flags.has("tree")) {
    const sent = await signalProcess(call, { client, pid, signal });
    client.close();
    if (console.mode === "json") await console.data(sent);
    return 0;
  }
  await client.request("kill", { pid, signal });
  client.close();
  const name = signalName(signal);
  if (console.mode === "json") await console.data({ pid, signal: name });
  else if (console.mode !== "quiet") await console.line(`[kernel] PID ${pid}: signal sent (${name})`);
  return 0;
}

/** Parses a signal given by name or number. INVALID: unknown signal. */
export function signalOf(text: string): Signal {
  const signal = parseSignal(text);
  if (signal === undefined)
    throw invalid(`unknown signal: ${text}`, `signals: ${Object.keys(SIGNALS).join(", ")}, or 1 to 5`);
  return signal;
}
