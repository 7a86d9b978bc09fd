import { countFlag, onePid } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { LogPrinter } from "./log-printer.ts";

/** The daemon's own limit. */
const MAX_TAIL = 100_000;

/** The log of a process, running or ended. */
export const logs: Command = {
  flags: { follow: { type: "boolean", short: "f" }, tail: { type: "string", short: "n" } },
  follows: ({ flags }) => flags.has("follow"),
  run,
};

async function run({ args, console, host }: Call): Promise<number> {
  const pid = onePid(args, "crux logs <pid> [-f] [--tail <n>]");
  const request = {
    pid,
    ...(args.flags.has("tail") ? { tail: Math.min(countFlag(args, "tail"), MAX_TAIL) } : {}),
    ...(args.flags.has("follow") ? { follow: true } : {}),
  };
  const client = await host.daemon.ensure();
  const stream = await client.stream("process.logs", request);
  try {
    await new LogPrinter(console, host.stdout.isTTY === true).printAll(stream.lines);
  } finally {
    stream.close();
  }
  return 0;
}
