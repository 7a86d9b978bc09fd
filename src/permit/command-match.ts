/** How argument vectors meet command rules. */
import { posix } from "node:path";
import { canEscalate, escalatingArgs } from "./escalating.ts";
import type { Command } from "./expand.ts";
import { isLauncher } from "./expand.ts";
import { literalOf, matchesGlob } from "./glob.ts";
import { isSystemProgram } from "./read-only.ts";
import type { Rule } from "./rule.ts";

export type Match = "yes" | "may" | "no";

/** For deny and ask rules: any level, by base name. `may`: it depends on what is not known. */
export function restrictsCommand(rule: Rule, command: Command): Match {
  const results = command.levels.map((argv, i) => {
    const isInnermost = i === command.levels.length - 1;
    const match = matchArgv(rule, argv, command.isOpen && isInnermost);
    // what the outer levels run is the next level; what a launcher runs is somewhere among its words
    const mayLaunch = isInnermost && isLauncher(argv) && isNamed(rule, argv.slice(1).join(" "));
    return match === "no" && mayLaunch ? "may" : match;
  });
  return results.find((match) => match === "yes") ?? results.find((match) => match === "may") ?? "no";
}

function matchArgv({ match }: Rule, argv: readonly string[], isOpen: boolean): Match {
  if (match.kind !== "command") return "no";
  const [name = "", ...args] = argv;
  if (!matchesGlob(match.base, posix.basename(name))) return "no";
  const words = match.words.slice(1);
  if (!words.slice(0, args.length).every((word, i) => matchesGlob(word, args[i] as string))) return "no";
  if (args.length > words.length && !match.rest) return "no";
  if (args.length < words.length) return isOpen ? "may" : "no";
  return isOpen && !match.rest ? "may" : "yes";
}

/** For allow rules: the innermost level as a whole, in a system directory or by the path that the rule names. */
export function allowsCommand(rule: Rule, command: Command): boolean {
  const { match, spelled } = rule;
  const argv = command.levels.at(-1) ?? [];
  if (match.kind !== "command" || !hasSystemWrappers(command)) return false;
  if (command.isOpen && (!match.rest || canEscalate(argv[0] ?? ""))) return false;
  const [name = ""] = argv;
  if (!match.name.includes("/") && !isSystemProgram(name)) return false;
  const program = match.name.includes("/") ? name : posix.basename(name);
  const words = [program, ...argv.slice(1)];
  if (words.length < match.words.length || (words.length > match.words.length && !match.rest)) return false;
  if (!match.words.every((word, i) => matchesGlob(word, words[i] as string))) return false;
  return escalatingArgs(argv).every((arg) => spelled.includes(arg));
}

/** Something called `env` elsewhere is not the wrapper that was unwrapped. */
export function hasSystemWrappers({ levels }: Command): boolean {
  return levels.slice(0, -1).every(([program = ""]) => isSystemProgram(program));
}

const HEAD = /(?:^|[;&|(){}\n`!]|\b(?:then|do|else|elif|if|while|until)\b)\s*(?:\w+=\S*\s+)*([^\s;&|()]+)/g;
const RUNS_WORDS =
  /\b(?:env|nice|ionice|nohup|setsid|stdbuf|time|timeout|xargs|command|builtin|exec|eval|source|sudo|su|doas|pkexec|find|(?:ba|da|z|k|a|fi)?sh)\b/;

/**
 * May text that is not understood run what a rule names? Its name stands there as a word, once quotes and backslashes are
 * gone, or a word that only bash can work out stands where a command may.
 */
export function mayRun(rule: Rule, text: string): boolean {
  if (rule.match.kind !== "command") return false;
  if (isNamed(rule, text) || /\$['"]/.test(text)) return true;
  const bare = unquoted(text);
  if (RUNS_WORDS.test(bare) && isDynamic(text)) return true;
  return [...bare.matchAll(HEAD)].some(([, head = ""]) => isDynamic(head));
}

/** Its program stands in the text as a word. */
function isNamed({ match }: Rule, text: string): boolean {
  if (match.kind !== "command") return false;
  if (literalOf(match.base) === "") return true;
  return unquoted(text)
    .split(/[^\p{L}\p{N}_.+-]+/u)
    .some((word) => matchesGlob(match.base, word));
}

export function unquoted(text: string): string {
  return text.replace(/\\\n|['"\\]/g, "");
}

/** Bash makes something else of it: expansions, globs, braces, home directories. */
export function isDynamic(text: string): boolean {
  return /[$`*?[{~]/.test(text);
}
