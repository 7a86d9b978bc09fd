/** The entry point of every command: runs the command line in the environment of the real process. */
import { runCli } from "./cli.ts";
import { nodeHost } from "./host/node-host.ts";

export function cliMain(argv: readonly string[], version: string): Promise<number> {
  return runCli(argv, nodeHost(version, runCli));
}
