/** The arguments of a read-only program, as data, and the code that reads them. */
import { directoryOf, literalStart, type Spelling } from "../spelling.ts";
import { mayBeFlag, type Word } from "../word.ts";

export interface Grammar {
  /** Short flags without a value; they may be bundled. */
  readonly flags: string;
  /** Short flags with a value, attached or in the next word. */
  readonly valued: string;
  readonly long: readonly string[];
  /** Long flags with a value after `=`. Many programs make it optional, so the next word is not read as the value. */
  readonly longValued: readonly string[];
  /** The values of long flags are never optional: they may be the next word. */
  readonly separateValues?: boolean;
  /**
   * `pattern`: the first operand is text, unless a flag of `patternFlags` gave the pattern. `revision`: git revisions
   * or paths.
   */
  readonly operands: "path" | "text" | "pattern" | "revision" | "none";
  readonly patternFlags?: readonly string[];
  readonly minOperands?: number;
  readonly maxOperands?: number;
  /** Accepts a number as a flag, as in `-5`. */
  readonly digits?: boolean;
  /** No flag of the program, listed or not, starts or writes anything, so an unknown word may be a flag. */
  readonly anyFlag?: boolean;
  /** Words after the first operand are not flags. */
  readonly flagsFirst?: boolean;
  /** Flags that make the program descend into directories; "always": it always does. */
  readonly recursive?: readonly string[] | "always";
  /** Without a path the program reads its working directory; otherwise only its input. */
  readonly readsCwd?: boolean;
}

export interface ReadOperand {
  /** The path as written, relative to the working directory of the command; null: any path. */
  readonly path: string | null;
  readonly subtree: boolean;
  /** A pattern of names in the directory `path`. */
  readonly glob?: string;
}

export interface Arguments {
  readonly used: readonly string[];
  readonly operands: readonly Word[];
}

/** null: a flag is not in the grammar, or a word may be such a flag. */
export function readArguments(grammar: Grammar, args: readonly Word[]): Arguments | null {
  const used: string[] = [];
  const operands: Word[] = [];
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as Word;
    const arg = word.text;
    if (arg === "--") {
      const rest = args.slice(i + 1);
      return rest.some(isLoose) ? null : { used, operands: [...operands, ...rest] };
    }
    if (grammar.flagsFirst === true && operands.length > 0) operands.push(word);
    else if (arg === null) {
      if (isValueOf(grammar, word)) continue;
      if (mayBeFlag(word) && grammar.anyFlag !== true) return null;
      if (word.among === undefined && !takesUnknown(grammar, operands.length, word)) return null;
      operands.push(word);
    } else if (!arg.startsWith("-") || arg === "-") operands.push(word);
    else if (!(grammar.digits === true && /^-\d+$/.test(arg))) {
      const takesNext = arg.startsWith("--") ? readLong(grammar, arg, used) : readShort(grammar, arg, used);
      if (takesNext === null || (takesNext && args[++i]?.isMany !== false)) return null;
    }
  }
  return { used, operands };
}

/** Whether the word is an unquoted, unknown expansion: several words, which may be anything. */
function isLoose({ text, isMany, among }: Word): boolean {
  return text === null && isMany && among === undefined;
}

/** Whether the word is a known flag with an unknown value: `--include=*.ts`. */
function isValueOf(grammar: Grammar, { prefix, isSplit, isMany, among }: Word): boolean {
  const [, flag] = /^(--[a-z][a-z-]*)=/.exec(prefix) ?? [];
  const isOne = among === undefined ? !isMany : isSplit !== true;
  return flag !== undefined && isOne && grammar.longValued.includes(flag);
}

/** Whether an unknown word is acceptable here: text that names no file may be anything. */
function takesUnknown(grammar: Grammar, count: number, { isMany }: Word): boolean {
  if (grammar.operands === "text") return true;
  return grammar.operands === "pattern" && count === 0 && !isMany;
}

/** Whether the next word is the flag's value; null: the flag is not listed. */
function readLong(grammar: Grammar, arg: string, used: string[]): boolean | null {
  const at = arg.indexOf("=");
  const name = at < 0 ? arg : arg.slice(0, at);
  used.push(name);
  if (at >= 0) return grammar.longValued.includes(name) ? false : null;
  if (grammar.long.includes(name)) return false;
  return grammar.longValued.includes(name) && grammar.separateValues === true ? true : null;
}

function readShort(grammar: Grammar, arg: string, used: string[]): boolean | null {
  for (let i = 1; i < arg.length; i++) {
    const flag = arg[i] as string;
    used.push(`-${flag}`);
    if (grammar.flags.includes(flag)) continue;
    return grammar.valued.includes(flag) ? i === arg.length - 1 : null;
  }
  return false;
}

/** null: operands that the grammar does not allow. */
export function readsOf(grammar: Grammar, { used, operands }: Arguments): readonly ReadOperand[] | null {
  if (grammar.operands === "text") return operands.flatMap(listedBy);
  if (grammar.operands === "none") return operands.length === 0 ? [] : null;
  const { minOperands = 0, maxOperands = Number.POSITIVE_INFINITY } = grammar;
  const isUncounted = operands.some(({ isMany }) => isMany) && maxOperands !== Number.POSITIVE_INFINITY;
  if (operands.length < minOperands || operands.length > maxOperands || isUncounted) return null;
  const isGiven = grammar.patternFlags?.some((flag) => used.includes(flag)) === true;
  const skipsFirst = grammar.operands === "pattern" && !isGiven;
  if (skipsFirst && (operands.length === 0 || operands[0]?.isMany === true)) return null;
  const paths = operands.slice(skipsFirst ? 1 : 0).filter(({ text }) => text !== "-");
  const subtree =
    grammar.recursive === "always" || (grammar.recursive ?? []).some((flag) => used.includes(flag));
  const reads = paths.flatMap((word) => operandsOf(word, subtree));
  if (grammar.operands === "revision") return [{ path: ".", subtree }, ...reads.flatMap(withinRevision)];
  return reads.length === 0 && (grammar.readsCwd === true || subtree) ? [{ path: ".", subtree }] : reads;
}

/** All paths that the word may become. */
export function operandsOf(word: Word, subtree: boolean): readonly ReadOperand[] {
  if (word.text !== null) return [{ path: word.text, subtree }];
  if (word.among === undefined) return [{ path: null, subtree }];
  return word.among.flatMap((spelling) => spelledOperands(spelling, subtree));
}

function spelledOperands({ kind, text }: Spelling, subtree: boolean): readonly ReadOperand[] {
  if (kind === "stream") return [];
  if (kind === "text") return [{ path: text, subtree }];
  if (kind === "glob") return [{ path: directoryOf(literalStart(text)), subtree: true, glob: text }];
  return [{ path: text, subtree: true }];
}

/** The directory from which bash reads the names that match a pattern. */
function listedBy({ among = [] }: Word): readonly ReadOperand[] {
  return among.flatMap(({ kind, text }) =>
    kind === "glob" ? [{ path: directoryOf(literalStart(text)), subtree: false, glob: text }] : [],
  );
}

/** Adds the file that a revision names: `HEAD:secrets/k` is a file as well. */
function withinRevision(read: ReadOperand): readonly ReadOperand[] {
  const at = read.path?.indexOf(":") ?? -1;
  return at < 0 ? [read] : [read, { ...read, path: read.path?.slice(at + 1) || "." }];
}
