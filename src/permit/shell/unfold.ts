/**
 * What a simple command finally runs. Wrappers (env, timeout, xargs, sh -c …) are unfolded by their own flag grammar;
 * an unlisted flag makes the part uncertain. Deny and ask rules see every level, an allow rule must cover the
 * innermost.
 */
import { posix } from "node:path";
import type { SimpleCommand } from "./command.ts";
import { decodeWord } from "./decode.ts";
import { evaluatedOperands } from "./evaluation.ts";
import { type Fill, fedWords, foundWords } from "./fill.ts";
import { scan } from "./scan.ts";
import { CHANGES_SHELL, isForeign, POSIX_SHELLS, RESERVED, SHELLS } from "./tables.ts";
import { isHarmlessName, isHarmlessVariable } from "./variables.ts";
import type { Cwds } from "./where.ts";
import { mayBeFlag, programOf, quoteShown, shownArgv, textsOf, UNKNOWN_WORD, type Word } from "./word.ts";
import { innerOf, WRAPPERS, type Wrapper } from "./wrapper.ts";

export interface Part {
  /**
   * The argument vectors, outermost first, innermost last. Empty: only redirections, assignments, or what bash
   * evaluates.
   */
  readonly levels: readonly (readonly Word[])[];
  /** Further arguments are unknown (xargs, find -exec). */
  readonly isOpen: boolean;
  /** The innermost command with its further arguments, if their kind is known. */
  readonly filled?: readonly Word[];
  /** A wrapper has an effect of its own, so the part is not read-only. */
  readonly acts: boolean;
  readonly cwds: Cwds;
  readonly assignments: SimpleCommand["assignments"];
  readonly redirects: SimpleCommand["redirects"];
  /** Why no allow rule covers the part; null: one may. */
  readonly evaluates: string | null;
  /** The evaluated text may run anything. */
  readonly isOpaque: boolean;
  /** Why it is uncertain what runs; null: it is certain. */
  readonly unsure: string | null;
  readonly source: string;
}

interface Reader {
  readonly home: string;
  /** Analyses text that a command runs. */
  read(text: string, cwds: Cwds, depth: number): readonly Part[];
}

interface Run {
  readonly command: SimpleCommand;
  readonly reader: Reader;
  readonly depth: number;
}

const MAX_DEPTH = 8;

export function unfold(command: SimpleCommand, reader: Reader, depth: number): readonly Part[] {
  const { argv, assignments, redirects, evaluates, cwds, source } = command;
  const run: Run = { command, reader, depth };
  const isOpaque = evaluates !== null;
  const found = evaluates ?? oddAssignment(command);
  if (argv.length === 0)
    return [
      {
        levels: [],
        isOpen: false,
        acts: false,
        cwds,
        assignments,
        redirects,
        evaluates: found,
        isOpaque,
        unsure: null,
        source,
      },
    ];
  const [first, ...others] = unfoldArgv(run, argv);
  // assignments and redirections of the whole command belong to the first part only
  if (first === undefined) return [];
  const whole = {
    // those of a nested text are added to its own
    assignments: [...assignments, ...first.assignments],
    redirects: [...redirects, ...first.redirects],
    evaluates: found ?? first.evaluates,
    isOpaque: isOpaque || first.isOpaque,
  };
  // an assignment before a wrapper applies to everything that it runs
  return [{ ...first, ...whole }, ...others.map((part) => ({ ...part, evaluates: part.evaluates ?? found }))];
}

/** Why the assignments are not harmless: one sets a variable that programs or bash react to. null: all are harmless. */
function oddAssignment({ argv, assignments }: SimpleCommand): string | null {
  const isFree = (name: string) => isHarmlessVariable(name) || (argv.length === 0 && isHarmlessName(name));
  // IFS before `read` only says where it splits a line
  const isCut = (name: string) => name === "IFS" && argv[0]?.text === "read";
  const odd = assignments.find(({ name }) => !isFree(name) && !isCut(name));
  return odd === undefined ? null : `it sets ${odd.name}`;
}

function unfoldArgv(run: Run, argv: readonly Word[]): readonly Part[] {
  const path = programOf(argv);
  if (path === null) return [unsure(run, argv, "the name of the command is not known")];
  const name = posix.basename(path);
  if (name === "" || !/^[\x21-\x7e]+$/.test(path)) return [unsure(run, argv, "an unusual command name")];
  if (run.depth > MAX_DEPTH) return [unsure(run, argv, "wrappers nested too deeply")];
  if (name === "eval") return unfoldEval(run, argv);
  if (name === "trap") return unfoldTrap(run, argv);
  if (SHELLS.has(name)) return unfoldShell(run, argv, name);
  if (name === "find") return unfoldFind(run, argv);
  if (name === "command" && /^-[vV]$/.test(argv[1]?.text ?? "")) return [plain(run, argv)];
  if (name === "parallel") return [unsure(run, argv, "parallel runs what it reads")];
  const wrapper = WRAPPERS.get(name);
  if (wrapper !== undefined && argv.length > 1) return unfoldWrapper(run, argv, wrapper);
  const evaluates = CHANGES_SHELL.has(name)
    ? `${name} changes what the shell does next`
    : evaluatedOperands(argv);
  return [{ ...plain(run, argv), evaluates }];
}

function plain({ command: { cwds } }: Run, argv: readonly Word[]): Part {
  const source = shownArgv(argv);
  return {
    levels: [argv],
    isOpen: false,
    acts: false,
    cwds,
    assignments: [],
    redirects: [],
    evaluates: null,
    isOpaque: false,
    unsure: null,
    source,
  };
}

function unsure(run: Run, argv: readonly Word[], why: string): Part {
  return { ...plain(run, argv), unsure: why };
}

function below(
  outer: readonly Word[],
  inner: readonly Part[],
  more: { isOpen?: boolean; acts?: boolean } = {},
): readonly Part[] {
  return inner.map((part) => ({
    ...part,
    levels: [outer, ...part.levels],
    isOpen: part.isOpen || more.isOpen === true,
    acts: part.acts || more.acts === true,
  }));
}

/** Unfolds nested bash text; `outer` is the command that runs it. */
function textBelow(run: Run, outer: readonly Word[], text: string): readonly Part[] {
  const parts = run.reader.read(text, run.command.cwds, run.depth + 1);
  return parts.length === 0 ? [plain(run, outer)] : below(outer, parts);
}

function unfoldEval(run: Run, argv: readonly Word[]): readonly Part[] {
  const texts = textsOf(argv.slice(1));
  if (texts === null) return [unsure(run, argv, "text that is not known is evaluated")];
  return textBelow(run, argv, texts.join(" "));
}

/** Unfolds `trap`, whose text runs later, in an unknown directory. */
function unfoldTrap(run: Run, argv: readonly Word[]): readonly Part[] {
  const [, text] = argv;
  const whole: Part = { ...plain(run, argv), evaluates: "trap runs text later" };
  if (argv.length < 3 || text?.text === "-" || text?.text === "") return [whole];
  if (text?.text == null) return [unsure(run, argv, "text that is not known is evaluated")];
  return [whole, ...below(argv, run.reader.read(text.text, null, run.depth + 1))];
}

/** Unfolds a shell: `-c text`, perhaps with flags that only change how it fails, or text on its input. */
function unfoldShell(run: Run, argv: readonly Word[], name: string): readonly Part[] {
  const [, first, text] = argv;
  const { input, redirects } = run.command;
  if (first?.text != null && /^-[eux]*c$/.test(first.text)) {
    if (!POSIX_SHELLS.has(name)) return [unsure(run, argv, `a text for ${name}`)];
    if (text?.text == null) return [unsure(run, argv, "a shell whose text is not known")];
    return isForeign(name, text.text)
      ? [unsure(run, argv, `a text that ${name} reads otherwise than bash`)]
      : textBelow(run, argv, text.text);
  }
  if (first === undefined || first.text === "-s" || first.text === "-") {
    const isFed =
      input !== undefined && POSIX_SHELLS.has(name) && !redirects.some(({ operator }) => operator === "<");
    return isFed && !isForeign(name, input)
      ? textBelow(run, argv, input)
      : [unsure(run, argv, "a shell whose text is not known")];
  }
  if (argv.length === 2 && first.text === "--version") return [plain(run, argv)];
  if (mayBeFlag(first) || first.text === null) return [unsure(run, argv, "a shell whose text is not known")];
  return [plain(run, argv)];
}

function unfoldWrapper(run: Run, argv: readonly Word[], wrapper: Wrapper): readonly Part[] {
  const found = innerOf(argv, wrapper);
  if (typeof found === "string") return [unsure(run, argv, found)];
  const { inner, text, assigned } = found;
  const more = { isOpen: wrapper.isOpen === true, acts: wrapper.acts === true };
  if (text !== undefined) {
    if (wrapper.isEnv !== true)
      return textBelow(run, argv, text).map((part) => ({ ...part, acts: part.acts || more.acts }));
    const split = splitString(run, text, inner);
    return split === null ? [unsure(run, argv, "a text that env splits")] : below(argv, split);
  }
  if (argv[0]?.text === "time" && isKeywordText(inner[0]))
    return [unsure(run, argv, "time before more than a command")];
  if (inner.length === 0) return [{ ...plain(run, argv), evaluates: assigned, acts: more.acts }];
  const parts =
    wrapper.joinsText === true && !argv.some(({ text: flag }) => flag === "-x" || flag === "--exec")
      ? joined(run, inner)
      : unfoldArgv({ ...run, depth: run.depth + 1 }, inner);
  const filled = argv[0]?.text === "xargs" ? fillOne(parts, fedWords(run.command.fed, argv)) : parts;
  return below(argv, filled, more).map((part) =>
    assigned === null ? part : { ...part, evaluates: assigned },
  );
}

/** Adds the further arguments if the parts are a single plain command. */
function fillOne(parts: readonly Part[], fill: Fill | null): readonly Part[] {
  const [part, other] = parts;
  const [argv, deeper] = part?.levels ?? [];
  if (
    fill === null ||
    part === undefined ||
    other !== undefined ||
    argv === undefined ||
    deeper !== undefined
  )
    return parts;
  return [{ ...part, filled: fill(argv) }];
}

/** Whether the keyword `time` is followed by syntax: assignments and reserved words keep their meaning after it. */
function isKeywordText(word: Word | undefined): boolean {
  return (
    word !== undefined &&
    (RESERVED.has(word.text ?? "") || /^\w+(?:\[.*)?\+?=/s.test(word.text ?? word.prefix))
  );
}

function joined(run: Run, inner: readonly Word[]): readonly Part[] {
  const texts = textsOf(inner);
  if (texts === null) return [unsure(run, inner, "text that is not known is evaluated")];
  return run.reader.read(texts.join(" "), run.command.cwds, run.depth + 1);
}

/** Unfolds `env -S 'git status'`. null: the text has more than words and quotes. */
function splitString(run: Run, text: string, rest: readonly Word[]): readonly Part[] | null {
  const words = splitWords(text);
  if (
    words === null ||
    words.length === 0 ||
    words.some((word) => /[\\$#=]/.test(word) || word.startsWith("-"))
  )
    return null;
  const argv = words.map(
    (word): Word => ({ text: word, prefix: word, isMany: false, shown: quoteShown(word) }),
  );
  return unfoldArgv({ ...run, depth: run.depth + 1 }, [...argv, ...rest]);
}

/** Splits words quoted as in the shell; null: the text has more than that. */
function splitWords(text: string): readonly string[] | null {
  if (/[$`\\]/.test(text)) return null;
  const scanned = scan(text);
  if (typeof scanned === "string" || scanned.redirects.size > 0 || /^[^'"]*[;&|()\n#]/.test(text))
    return null;
  const none = { home: "~", spellings: () => undefined };
  const words = [...scanned.words.values()].flatMap(({ pieces }) =>
    // patterns and braces are kept as written
    (
      decodeWord(
        pieces.map((piece) => ({ ...piece, isQuoted: true })),
        none,
      ) ?? [UNKNOWN_WORD]
    ).map(({ text: word }) => word),
  );
  return words.every((word) => word !== null) ? words : null;
}

/** Unfolds `find`: the command itself, and each program after -exec, whose further arguments are unknown. */
function unfoldFind(run: Run, argv: readonly Word[]): readonly Part[] {
  const parts: Part[] = [plain(run, argv)];
  argv.forEach((word, i) => {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(word.text ?? "")) return;
    const rest = argv.slice(i + 1);
    const end = rest.findIndex(({ text }) => text === ";" || text === "+");
    const inner = rest.slice(0, end < 0 ? rest.length : end);
    const runsFound = inner.length === 0 || inner[0]?.text?.includes("{}") === true;
    if (runsFound) parts.push(unsure(run, inner.length === 0 ? argv : inner, "find runs what it finds"));
    else {
      const filled = word.text === "-exec" ? foundWords(argv) : null;
      const found = fillOne(unfoldArgv({ ...run, depth: run.depth + 1 }, inner), filled);
      parts.push(...below(argv, found, { isOpen: true }));
    }
  });
  return parts;
}
