/** The rule that an "always" answer would add for a command: at most two static words, never what could run anything. */
import { posix } from "node:path";
import { escalatingArgs } from "./escalating.ts";
import type { Command } from "./expand.ts";
import { isSystemProgram } from "./read-only.ts";
import { CHANGES_SHELL, LAUNCHERS, SHELLS, WRAPPERS } from "./wrapper.ts";

/** Programs of which no call resembles the next. */
const NEVER = new Set(
  "rm rmdir dd mkfs shred truncate chmod chown mv ln tee find cd kill pkill killall".split(" "),
);
/** Launchers with subcommands that stand for one thing. */
const WITH_SUBCOMMANDS = new Set("npm pnpm yarn".split(" "));
const RUNS_ANYTHING = new Set("run run-script exec x dlx create init start config".split(" "));

export function suggestCommand(command: Command): string | null {
  const [argv = [], ...inner] = command.levels;
  const [path = "", second] = argv;
  const name = posix.basename(path);
  if (inner.length > 0 || path !== name || !/^[A-Za-z][\w+.-]*$/.test(name)) return null;
  if (!isSystemProgram(path) || isNever(name) || escalatingArgs(argv).length > 0) return null;
  const isSubcommand = second !== undefined && /^[a-z][a-z0-9-]*$/.test(second);
  if (WITH_SUBCOMMANDS.has(name) && (!isSubcommand || RUNS_ANYTHING.has(second))) return null;
  return isSubcommand ? `bash(${name} ${second}:*)` : `bash(${name}:*)`;
}

function isNever(name: string): boolean {
  if (WITH_SUBCOMMANDS.has(name)) return false;
  return (
    NEVER.has(name) ||
    SHELLS.has(name) ||
    WRAPPERS.has(name) ||
    LAUNCHERS.has(name) ||
    CHANGES_SHELL.has(name)
  );
}
