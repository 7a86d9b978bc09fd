import type { CollectWire } from "../../../abi/journal/wire.ts";
import { noWords } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { collectScreen, nearlyFull } from "../../screen/journal-usage.ts";
import { reportOf, untilInterrupted } from "./journal-stream.ts";

/** Removes what retention no longer keeps, and reports the size of the journal. */
export const gc: Command = { flags: { "dry-run": { type: "boolean", short: "n" } }, run };

async function run(call: Call): Promise<number> {
  noWords(call.args, "crux gc [--dry-run]");
  return untilInterrupted(call, (signal) => collect(call, signal));
}

async function collect(call: Call, signal: AbortSignal): Promise<number> {
  const { args, console, host } = call;
  const isDryRun = args.flags.has("dry-run");
  const client = await host.daemon.ensure(signal);
  const stream = await client.stream("journal.collect", { dry_run: isDryRun }, signal);
  try {
    const report = await reportOf<CollectWire>(call, "gc", stream.lines);
    if (console.mode === "json") await console.data({ dry_run: isDryRun, ...report });
    else if (console.mode === "quiet") await printPids(call, report);
    else await console.line(collectScreen(report, isDryRun, console.mode === "verbose" || isDryRun));
    const warning = nearlyFull(report.usage);
    if (warning !== undefined) await console.errorLine(warning);
    return 0;
  } finally {
    stream.close();
  }
}

async function printPids({ console }: Call, { processes }: CollectWire): Promise<void> {
  if (processes.length > 0) await console.line(processes.map(({ pid }) => pid).join("\n"));
}
