import type { Args, FlagTable } from "./args.ts";
import type { Console } from "./console.ts";
import type { Host } from "./host/host.ts";

/** One invocation of a command. */
export interface Call {
  readonly args: Args;
  readonly console: Console;
  readonly host: Host;
}

/** What each `cli/<command>.ts` exports. */
export interface Command {
  readonly flags: FlagTable;
  /** Where a table of flags does not do: all of the command line but the command's own name. */
  parse?(argv: readonly string[]): Args;
  /** It shows what happens elsewhere: once nobody reads its stdout it has nothing to do, and ends. */
  follows?(args: Args): boolean;
  /** The exit code; what it throws is shown, and the code is 1. */
  run(call: Call): Promise<number>;
}
