/** Matches argument vectors against command rules. */
import { posix } from "node:path";
import { canEscalate, escalatingArgs } from "../shell/program/escalating.ts";
import { meantArgvs, programNames, withoutHarmlessGlobals } from "../shell/program/named-command.ts";
import { isSystemProgram, LAUNCHERS, SHELLS } from "../shell/tables.ts";
import type { Part } from "../shell/unfold.ts";
import { programOf, shownArgv, type Word } from "../shell/word.ts";
import { type Glob, literalOf, matchesGlob } from "./glob.ts";
import { type Match, matchNamed } from "./named-match.ts";
import type { Rule } from "./rule.ts";

/**
 * Matching for deny and ask rules: any level of the part, by base name. `may`: the answer depends on something unknown.
 * `text` is the whole text passed to bash: what a command evaluates may come from elsewhere in it.
 */
export function restrictsCommand(rule: Rule, part: Part, text: string): Match {
  if (rule.match.kind !== "command") return "no";
  const { levels, isOpen, unsure, evaluates, isOpaque } = part;
  const results = levels.flatMap((argv, i) =>
    meantArgvs(argv).map((meant) => matchArgv(rule, meant, isOpen && i === levels.length - 1)),
  );
  if (results.includes("yes")) return "yes";
  if (results.includes("may") || unsure !== null || isOpaque) return "may";
  // the outer levels run the next level; a launcher runs something among its own words
  const innermost = levels.at(-1) ?? [];
  if (isLauncher(innermost) && (isOpen || isNamed(rule, shownArgv(innermost.slice(1))))) return "may";
  // an option that starts a program has the command among the words after it
  const starts = Math.min(...escalatingArgs(innermost).map(({ at }) => at));
  if (Number.isFinite(starts) && isNamed(rule, shownArgv(innermost.slice(starts)))) return "may";
  return evaluates !== null && (isNamed(rule, text) || /\$['"]/.test(text)) ? "may" : "no";
}

/** Whether the command runs something among its words in ways that are not unfolded. */
export function isLauncher(argv: readonly Word[]): boolean {
  const name = posix.basename(programOf(argv) ?? "");
  return LAUNCHERS.has(name) || SHELLS.has(name);
}

/** Matches the words as written, or by the meaning of options and subcommands. */
function matchArgv({ match }: Rule, argv: readonly Word[], isOpen: boolean): Match {
  if (match.kind !== "command") return "no";
  const [name] = argv;
  if (name?.text == null) return "may";
  if (!programNames(name.text).some((each) => matchesGlob(match.base, each))) return "no";
  const written = matchWords(match, argv.slice(1), isOpen);
  return written === "yes" ? written : stronger(written, matchNamed(match, argv, isOpen));
}

function stronger(a: Match, b: Match): Match {
  return a === "yes" || b === "yes" ? "yes" : a === "may" ? a : b;
}

function matchWords(
  match: Extract<Rule["match"], { kind: "command" }>,
  args: readonly Word[],
  isOpen: boolean,
): Match {
  const words = match.words.slice(1);
  let isSure = true;
  for (const [i, word] of words.entries()) {
    const arg = args[i];
    if (arg === undefined) return isOpen ? "may" : "no";
    if (arg.isMany) return "may";
    if (arg.text === null) isSure = false;
    else if (!matchesGlob(word, arg.text)) return "no";
  }
  if (!match.rest && args.slice(words.length).some(({ isMany }) => !isMany)) return "no";
  const hasLoose = args.length > words.length || isOpen;
  return isSure && (match.rest || !hasLoose) ? "yes" : "may";
}

/** Matching for allow rules: the innermost level as a whole, run from a system directory or by the path in the rule. */
export function allowsCommand(rule: Rule, part: Part): boolean {
  const { levels, isOpen, acts, unsure, evaluates } = part;
  if (unsure !== null || evaluates !== null || !hasSystemWrappers(part)) return false;
  // a wrapper that acts on its own (it writes a file, say) must be covered as well
  if (acts && !levels.slice(0, -1).every((argv) => coversArgv(rule, argv, false))) return false;
  return coversArgv(rule, levels.at(-1) ?? [], isOpen);
}

function coversArgv(rule: Rule, argv: readonly Word[], isOpen: boolean): boolean {
  const { match } = rule;
  const name = programOf(argv);
  if (match.kind !== "command" || name === null) return false;
  if (isOpen && (!match.rest || canEscalate(name) || isLauncher(argv))) return false;
  const hasPath = match.name.includes("/");
  if (!hasPath && !isSystemProgram(name)) return false;
  // `*` is not a name: a launcher is covered only by a rule that begins with its name
  if (isLauncher(argv) && (match.words.length === 0 || /[*?[]/.test(match.name))) return false;
  if (match.words.length > 0 && !matchesGlob(match.words[0] ?? [], hasPath ? name : posix.basename(name)))
    return false;
  if (coversWords(match, argv)) return true;
  const bare = withoutHarmlessGlobals(argv);
  return bare.length < argv.length && coversWords(match, bare);
}

/** Matches word by word; an argument that starts, writes or brings something must be spelled in the rule itself. */
function coversWords(match: Extract<Rule["match"], { kind: "command" }>, argv: readonly Word[]): boolean {
  const { words, rest } = match;
  const named = Math.max(words.length, 1);
  if (argv.length < named || (argv.length > named && !rest)) return false;
  const isMatched = words.slice(1).every((word, i) => {
    const text = argv[i + 1]?.text;
    return text != null && matchesGlob(word, text);
  });
  return isMatched && escalatingArgs(argv).every(({ at, text }) => text !== null && isSpelled(words[at]));
}

/** A pattern that begins with a wildcard does not spell a word. */
function isSpelled(word: Glob | undefined): boolean {
  return word?.[0]?.kind === "char";
}

/** A program called `env` outside the system directories is not the wrapper that was unfolded. */
export function hasSystemWrappers({ levels }: Part): boolean {
  return levels.slice(0, -1).every((argv) => isSystemProgram(programOf(argv) ?? "/"));
}

/**
 * Whether text that could not be analysed may run what a rule names: the name is among its words, or bash expands
 * something in it.
 */
export function mayRun(rule: Rule, text: string): boolean {
  return rule.match.kind === "command" && (isNamed(rule, text) || isDynamic(text));
}

/** Whether the rule's program is a word of the text once quotes and backslashes are removed. */
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

/** Whether bash would change the text: expansions, globs, braces, home directories. */
export function isDynamic(text: string): boolean {
  return /[$`*?[{~]/.test(text);
}
