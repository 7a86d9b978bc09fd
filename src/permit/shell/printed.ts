/** The known output of read-only commands: mostly names of files that other commands then get as arguments. */
import { posix } from "node:path";
import type { SimpleCommand } from "./command.ts";
import { readOnlyOperands } from "./read/read-only.ts";
import type { Spelling } from "./spelling.ts";
import { isSystemProgram, wordList as words } from "./tables.ts";
import { textsOf, type Word } from "./word.ts";

export type Printed = readonly Spelling[] | undefined;

const BELOW_HERE: readonly Spelling[] = [{ kind: "names", text: "." }];
const NUMBER: readonly Spelling[] = [{ kind: "glob", text: "[0-9]*", isWhole: true }];
/** Names of commits, branches and tags: none begins with a dash, none leaves the directory. */
const REVISION: readonly Spelling[] = [{ kind: "glob", text: "[0-9A-Za-z]*", isWhole: true }];
/** Commands that pass lines through unchanged. */
const FILTERS = new Set(words("head tail sort uniq tac grep egrep fgrep cat shuf rev"));

/**
 * The output of a simple command; undefined: it may be anything, for example if the command redirects its output, sets
 * or evaluates something.
 */
export function printedByCommand({
  argv,
  assignments,
  evaluates,
  fed,
  input,
  redirects,
}: SimpleCommand): Printed {
  const isHeard = redirects.every(({ operator, target }) => operator === ">" && target?.text === "/dev/null");
  const isPlain = evaluates === null && assignments.length === 0 && input === undefined;
  return isHeard && isPlain ? printedBy(argv, fed) : undefined;
}

/** `fed`: the output of the preceding command, which this one reads. */
function printedBy(argv: readonly Word[], fed: Printed): Printed {
  const program = argv[0]?.text;
  if (program == null || !isSystemProgram(program)) return undefined;
  const name = posix.basename(program);
  if (name === "find") return printedByFind(argv);
  if (name === "echo") return wordsOf(argv.slice(1));
  const args = textsOf(argv.slice(1));
  if (args === null || readOnlyOperands(argv) === null) return undefined;
  if (FILTERS.has(name) && fed !== undefined) return isFilter(name, args) ? fed : undefined;
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const has = (flag: RegExp) => args.some((arg) => flag.test(arg));
  switch (name) {
    case "git":
      return printedByGit(args);
    case "seq":
    case "nproc":
    case "wc":
      return name === "wc" && operands.length > 0 ? undefined : NUMBER;
    case "ls":
      return has(/^-[^-]*[lisgnozTRFp]|^--/)
        ? undefined
        : [...BELOW_HERE, ...operands.filter(isInside).map(textOf)];
    case "grep":
    case "egrep":
    case "fgrep":
      return has(/^-[^-]*[lL]|^--files-with/)
        ? namesIn(operands.slice(has(/^-e|^--regexp/) ? 0 : 1))
        : undefined;
    case "rg":
      return has(/^-l|^--files/) ? namesIn(operands) : undefined;
    default:
      return undefined;
  }
}

/** Whether the command only selects lines of its input: no file of its own, no flag that adds to the lines. */
function isFilter(name: string, args: readonly string[]): boolean {
  const values = name === "head" || name === "tail" ? /^[+-]?\d+$/ : undefined;
  const operands = args.filter((arg) => !arg.startsWith("-") && values?.test(arg) !== true);
  const flags = args.filter((arg) => arg.startsWith("-"));
  if (name.endsWith("grep"))
    return operands.length === 1 && flags.every((flag) => /^-[ivwxEFPe]+$/.test(flag));
  if (name === "head" || name === "tail") return operands.length === 0;
  return operands.length === 0 && flags.every((flag) => /^-[ufrnhVsd]+$/.test(flag)) && name !== "rev";
}

function isInside(path: string): boolean {
  return !path.startsWith("/") && !path.startsWith("~") && !path.split("/").includes("..");
}

function textOf(text: string): Spelling {
  return { kind: "text", text };
}

/** Paths printed below the given places. */
function namesIn(places: readonly string[]): Printed {
  if (places.length === 0) return BELOW_HERE;
  return places.map((text) => ({ kind: "names", text }));
}

function wordsOf(args: readonly Word[]): Printed {
  const texts = textsOf(args);
  if (texts === null || texts.some((text) => text.startsWith("-") || /["'\\]/.test(text))) return undefined;
  return texts.flatMap((text) =>
    text
      .split(/\s+/)
      .filter((word) => word !== "")
      .map(textOf),
  );
}

function printedByFind(argv: readonly Word[]): Printed {
  if (readOnlyOperands(argv) === null) return undefined;
  const args = argv.slice(1);
  const at = args.findIndex(({ text }) => text !== null && /^[-(!]/.test(text));
  const places = textsOf(at < 0 ? args : args.slice(0, at));
  const rest = textsOf(at < 0 ? [] : args.slice(at));
  if (places === null || rest === null || rest.some((arg) => /^-(?:printf|ls|exec|ok)/.test(arg)))
    return undefined;
  const from = places.length === 0 ? ["."] : places;
  const named = rest.filter(
    (_, i) =>
      /^-i?(?:name|path|wholename)$/.test(rest[i - 1] ?? "") && rest[i - 2] !== "-not" && rest[i - 2] !== "!",
  );
  return from.flatMap((place): readonly Spelling[] => [
    { kind: "names", text: place },
    ...named.map((name): Spelling => ({ kind: "glob", text: posix.join(place, "**", name) })),
  ]);
}

function printedByGit([command = "", ...args]: readonly string[]): Printed {
  const has = (...flags: readonly string[]) => args.some((arg) => flags.includes(arg));
  if (args.some((arg) => arg.split("/").includes("..") || arg.startsWith("/"))) return undefined;
  switch (command) {
    case "ls-files":
      return args.every((arg) =>
        /^(?:-[cdmoz]+|--(?:cached|deleted|modified|others|exclude-standard)|[^-].*|--)$/s.test(arg),
      )
        ? BELOW_HERE
        : undefined;
    case "ls-tree":
      return has("--name-only") ? BELOW_HERE : undefined;
    case "diff":
    case "show":
    case "diff-tree":
      return has("--name-only") &&
        (command !== "show" || args.some((arg) => /^--(?:format|pretty)=$/.test(arg)))
        ? BELOW_HERE
        : undefined;
    case "grep":
      return has("-l", "--files-with-matches", "--name-only") ? BELOW_HERE : undefined;
    case "merge-base":
    case "describe":
    case "rev-list":
      return has("--pretty", "--format") ? undefined : REVISION;
    case "branch":
      return has("--show-current") ? REVISION : undefined;
    case "rev-parse":
      return args.every((arg) => /^(?:--short|--abbrev-ref|--verify|HEAD[~^\d]*|[A-Za-z]\w*)$/.test(arg))
        ? REVISION
        : undefined;
    default:
      return undefined;
  }
}
