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
  /** Replaces the flag table if it is not enough: gets the whole command line except the name of the command. */
  parse?(argv: readonly string[]): Args;
  /** What a script reads on stdout of a command line that `parse` refuses; absent: nothing. */
  refusal?(argv: readonly string[], error: unknown): string | undefined;
  /** The command only shows what happens elsewhere: it ends when stdout is no longer read. */
  follows?(args: Args): boolean;
  /** Returns the exit code; an error it throws is shown, and the code is 1. */
  run(call: Call): Promise<number>;
}
