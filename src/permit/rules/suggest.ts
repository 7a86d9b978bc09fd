/**
 * The rule that an "always" answer would add for a command: at most two static words, and never for a command that
 * could run anything.
 */
import { posix } from "node:path";
import { escalatingArgs } from "../shell/program/escalating.ts";
import { CHANGES_SHELL, EVALUATES_OPERANDS, isSystemProgram } from "../shell/tables.ts";
import type { Part } from "../shell/unfold.ts";
import { WRAPPERS } from "../shell/wrapper.ts";
import { isLauncher } from "./command-match.ts";

/** Programs whose calls differ too much for a general rule. */
const NEVER = new Set(
  "rm rmdir dd mkfs shred truncate chmod chown mv ln tee find cd kill pkill killall eval parallel".split(" "),
);
/** Launchers whose subcommands can be named in a rule. */
const WITH_SUBCOMMANDS = new Set("npm pnpm yarn cargo go".split(" "));
const RUNS_ANYTHING = new Set(
  "run run-script exec x dlx create init start config install i add ci tool generate".split(" "),
);

export function suggestCommand({ levels, isOpen, unsure, evaluates }: Part): string | null {
  const [argv = [], ...inner] = levels;
  if (inner.length > 0 || isOpen || unsure !== null || evaluates !== null) return null;
  const path = argv[0]?.text;
  const second = argv[1]?.text;
  if (path == null || path.includes("/") || !/^[A-Za-z][\w+.-]*$/.test(path)) return null;
  if (!isSystemProgram(path) || escalatingArgs(argv).length > 0) return null;
  const isSubcommand = second != null && /^[a-z][a-z0-9-]*$/.test(second);
  const name = posix.basename(path);
  if (WITH_SUBCOMMANDS.has(name))
    return isSubcommand && !RUNS_ANYTHING.has(second) ? `bash(${name} ${second}:*)` : null;
  if (
    NEVER.has(name) ||
    WRAPPERS.has(name) ||
    isLauncher(argv) ||
    CHANGES_SHELL.has(name) ||
    EVALUATES_OPERANDS.has(name)
  )
    return null;
  return isSubcommand ? `bash(${name} ${second}:*)` : `bash(${name}:*)`;
}
