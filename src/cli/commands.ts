import { nearNames } from "../lib/near-names.ts";
import type { Command } from "./command.ts";

/** The commands there are, each loaded only when it is called for. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  ps: async () => (await import("./ps.ts")).ps,
  kill: async () => (await import("./kill.ts")).kill,
  astrace: async () => (await import("./astrace.ts")).astrace,
  version: async () => (await import("./version.ts")).version,
  daemon: async () => (await import("./daemon.ts")).daemon,
  shutdown: async () => (await import("./shutdown.ts")).shutdown,
  help: async () => (await import("./help.ts")).help,
};

/**
 * Names the manual keeps for commands that this version has not. They never begin an intent: the same line would
 * spend tokens today and be a command tomorrow.
 */
export const RESERVED: ReadonlySet<string> = new Set(
  (
    "wait pause cont logs signal groups compose stop send attach fork agents export rewind model login demo " +
    "context compact memory mcp plugin hooks commands config trust setup chat top"
  ).split(" "),
);

/** The command that is one letter more, less, other or two swapped away. */
export function findNearCommand(word: string): string | undefined {
  return nearNames(word, Object.keys(COMMANDS), 1)[0];
}
