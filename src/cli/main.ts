/** What the entry loads for every command: the command line, in the surroundings of a real process. */
import { runCli } from "./cli.ts";
import { nodeHost } from "./host/node-host.ts";

export function cliMain(argv: readonly string[], version: string): Promise<number> {
  return runCli(argv, nodeHost(version));
}
