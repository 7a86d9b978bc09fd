/**
 * The options of programs, as data: spellings, values, subcommands, and what an option does beyond what the program is
 * for. Notation: `-o|--output=` takes the next word or an attached value, `--color=?` only an attached value,
 * `-v|--verbose` no value. Long names may be abbreviated. A row is compiled when its program is first looked up.
 */
import { posix } from "node:path";
import { wordList } from "../tables.ts";

/** What an option or a subcommand does beyond what its program is for. */
type Deed = "starts" | "writes" | "reads" | "moves" | "connects";

/**
 * `gnu`: `--long`, which may be abbreviated, and `-s`, which may be bundled; `word`: `-name` and `--name` are the same,
 * never bundled, with values attached or in the next word.
 */
type Style = "gnu" | "word";

/** Returns the operands (by index) and options that an allow rule must spell. null: an unknown word. */
export type OperandJudge = (
  operands: readonly (string | null)[],
  used: readonly UsedOption[],
) => readonly (number | UsedOption)[];

export interface UsedOption {
  readonly option: Option;
  /** Its position in the argument vector. */
  readonly at: number;
  /** undefined: no value. null: an unknown value. */
  readonly value: string | null | undefined;
}

export interface CommandSpec {
  /** Options known to be harmless. */
  readonly plain?: string;
  /** Options that start a program. */
  readonly starts?: string;
  /** Options that write a file. */
  readonly writes?: string;
  /** Options that read settings, code or lists of files from elsewhere. */
  readonly reads?: string;
  /** Options that change the directory, repository, root or host to work on. */
  readonly moves?: string;
  /** Options that send something to the network or open it. */
  readonly connects?: string;
  /** `"pull push"`: two subcommands with the same options; `"install|i|add"`: one with several names. */
  readonly commands?: Readonly<Record<string, CommandSpec>>;
  /** Its options are accepted after its subcommands too. */
  readonly isPersistent?: boolean;
  /** Words after the first operand are not its own options. */
  readonly stops?: boolean;
  /** Words after `--` are still read as options. */
  readonly ignoresEnd?: boolean;
  /** Subcommands may be abbreviated. */
  readonly abbreviates?: boolean;
  /** An unlisted subcommand may be anything: an alias, a program of its own. */
  readonly isClosed?: boolean;
  /** The subcommand itself does this, so that a rule must name it. */
  readonly deed?: Deed;
  readonly operands?: OperandJudge;
  /** Words with the effect of an option, by its long name: `+main` forces a push. */
  readonly alike?: Readonly<Record<string, RegExp>>;
}

export interface ProgramSpec extends CommandSpec {
  /** Programs that share this row; rules still treat each as a program of its own. */
  readonly names: string;
  readonly style?: Style;
  /** The first word may be bundled options without a dash: `tar xf`. */
  readonly isDashless?: boolean;
  /** A word before the subcommand that is neither an option nor an operand: `cargo +nightly`. */
  readonly skips?: RegExp;
}

export interface Option {
  readonly names: readonly string[];
  /** `either`: with or without a value, depending on the row. */
  readonly value: "none" | "next" | "joined" | "either";
  readonly deed: Deed | null;
}

/** One level of a program's command line: the program, or one of its subcommands. */
export interface Level {
  readonly style: Style;
  readonly spec: CommandSpec & Pick<ProgramSpec, "isDashless" | "skips">;
  readonly long: ReadonlyMap<string, Option>;
  readonly short: ReadonlyMap<string, Option>;
  readonly words: ReadonlyMap<string, Option>;
  /** Subcommands by each of their names; null: the level has none. */
  readonly commands: ReadonlyMap<string, Subcommand> | null;
  readonly hasDeeds: boolean;
}

interface Subcommand {
  readonly names: readonly string[];
  readonly level: () => Level;
}

const DEEDS = ["starts", "writes", "reads", "moves", "connects"] as const;

function parseOptions(text: string | undefined, deed: Deed | null): readonly Option[] {
  return wordList(text ?? "").map((word): Option => {
    const [, names = word, mark = ""] = /^(.*?)(=\??)?$/.exec(word) ?? [];
    const value = mark === "" ? "none" : mark === "=" ? "next" : "joined";
    return { names: names.split("|"), value, deed };
  });
}

/** All options of the spec; one that is listed both as harmless and with a deed counts as having the deed. */
export function optionsOf(spec: CommandSpec): readonly Option[] {
  return [...parseOptions(spec.plain, null), ...DEEDS.flatMap((deed) => parseOptions(spec[deed], deed))];
}

/** Compiles a level; its own options override those of the levels above. */
function compileLevel(spec: Level["spec"], style: Style, above: readonly Option[]): Level {
  const own = optionsOf(spec);
  const [long, short, words] = [
    new Map<string, Option>(),
    new Map<string, Option>(),
    new Map<string, Option>(),
  ];
  const place = (name: string): [Map<string, Option>, string] => {
    if (style === "word") return [words, name.replace(/^--?/, "")];
    if (name.startsWith("--")) return [long, name];
    return name.length === 2 ? [short, name.charAt(1)] : [words, name];
  };
  const mine = new Set(own);
  for (const option of [...above, ...own])
    for (const name of option.names) {
      const [map, key] = place(name);
      const before = map.get(key);
      const held = before !== undefined && mine.has(before) ? merged(before, option) : option;
      if (mine.has(option)) mine.add(held);
      map.set(key, held);
    }
  const below = spec.isPersistent === true ? [...above, ...own] : above;
  const commands = spec.commands === undefined ? null : compileCommands(spec.commands, style, below);
  const all = [...long.values(), ...short.values(), ...words.values()];
  const hasDeeds =
    all.some(({ deed }) => deed !== null) ||
    spec.operands !== undefined ||
    spec.deed !== undefined ||
    commands !== null;
  return { style, spec, long, short, words, commands, hasDeeds };
}

/** The names of each subcommand that a key covers. */
export function namesIn(key: string): readonly (readonly string[])[] {
  return wordList(key).map((names) => names.split("|"));
}

/** Combines two entries of one level for the same name. */
function merged(before: Option, option: Option): Option {
  return {
    names: [...new Set([...before.names, ...option.names])],
    value: before.value === option.value ? option.value : "either",
    deed: option.deed ?? before.deed,
  };
}

function compileCommands(
  specs: Readonly<Record<string, CommandSpec>>,
  style: Style,
  above: readonly Option[],
): ReadonlyMap<string, Subcommand> {
  const found = new Map<string, Subcommand>();
  for (const [key, spec] of Object.entries(specs)) {
    let level: Level | undefined;
    const compiled = () => {
      level ??= compileLevel(spec, style, above);
      return level;
    };
    for (const names of namesIn(key)) for (const name of names) found.set(name, { names, level: compiled });
  }
  return found;
}

/** Finds a program's level by name; each row is compiled at its first use. */
export function compilePrograms(rows: readonly ProgramSpec[]): (name: string) => Level | null {
  const specs = new Map(rows.flatMap((row) => wordList(row.names).map((name) => [name, row] as const)));
  const levels = new Map<ProgramSpec, Level>();
  return (path) => {
    const spec = specs.get(posix.basename(path)) ?? specs.get(versionless(path));
    if (spec === undefined) return null;
    const known = levels.get(spec);
    if (known !== undefined) return known;
    const level = compileLevel(spec, spec.style ?? "gnu", []);
    levels.set(spec, level);
    return level;
  };
}

/** The program name without version, target or extension: `python3.11`, `gcc-12`, `x86_64-linux-gnu-gcc`, `git.exe`. */
export function versionless(name: string): string {
  return posix
    .basename(name)
    .replace(/\.(?:exe|cmd|bat)$/i, "")
    .replace(/^(?:[a-z0-9_]+-)+(?=(?:gcc|g\+\+|cpp|ld|as|ar|objcopy|strip)(?:-|$))/, "")
    .replace(/-?\d[\d.]*$/, "");
}

/** The meaning of one option-like word at a level. */
export interface ReadOption {
  /** All options that the word may be. */
  readonly options: readonly { readonly option: Option; readonly value: string | undefined }[];
  readonly takesNext: boolean | "maybe";
  /** Every part of the word is exactly in the table. */
  readonly isKnown: boolean;
}

export function isOptionLike(text: string): boolean {
  return text.length > 1 && text.startsWith("-");
}

export function readOption(level: Level, text: string): ReadOption {
  if (level.style === "word") return readWordOption(level, text);
  return text.startsWith("--") ? readLongOption(level, text) : readShortOptions(level, text);
}

function readLongOption(level: Level, text: string): ReadOption {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  const value = at < 0 ? undefined : text.slice(at + 1);
  const exact = level.long.get(name);
  if (exact !== undefined)
    return {
      options: [{ option: exact, value }],
      takesNext: at < 0 && takesNext(exact),
      isKnown: true,
    };
  const found = new Set<Option>();
  if (name.length > 2) for (const [long, option] of level.long) if (long.startsWith(name)) found.add(option);
  const options = [...found].map((option) => ({ option, value }));
  return { options, takesNext: at < 0 ? agreed([...found]) : false, isKnown: false };
}

function takesNext({ value }: Option): boolean | "maybe" {
  return value === "either" ? "maybe" : value === "next";
}

function agreed(options: readonly Option[]): boolean | "maybe" {
  if (options.length === 0 || options.some(({ value }) => value === "either")) return "maybe";
  if (options.every(({ value }) => value === "next")) return true;
  return options.every(({ value }) => value !== "next") ? false : "maybe";
}

function readShortOptions(level: Level, text: string): ReadOption {
  const word = level.words.get(text.split("=")[0] ?? text);
  if (word !== undefined) {
    const at = text.indexOf("=");
    const value = at < 0 ? undefined : text.slice(at + 1);
    return { options: [{ option: word, value }], takesNext: at < 0 && takesNext(word), isKnown: true };
  }
  return readLetters(level, text.slice(1));
}

/**
 * Reads bundled letters: `-vI x`, `-C5`. An unknown letter may take the next word, or the letters after it, as its
 * value.
 */
function readLetters(level: Level, letters: string): ReadOption {
  const read = readEachLetter(level, letters);
  return read.takesNext === true && letters.includes("=") ? { ...read, takesNext: "maybe" } : read;
}

/** Reads `xfC a b`: the values of such letters are the next words, in order. */
export function readDashless(level: Level, letters: string): ReadOption {
  const found = [...letters].map((letter) => level.short.get(letter));
  const options = found.flatMap((option) => (option === undefined ? [] : [{ option, value: undefined }]));
  return { options, takesNext: "maybe", isKnown: false };
}

function readEachLetter(level: Level, letters: string): ReadOption {
  const options: { option: Option; value: string | undefined }[] = [];
  if (/^\d+$/.test(letters) && !level.short.has(letters.charAt(0)))
    return { options, takesNext: false, isKnown: true };
  let isKnown = true;
  for (let i = 0; i < letters.length; i++) {
    const option = level.short.get(letters.charAt(i));
    const rest = letters.slice(i + 1);
    if (option === undefined) {
      isKnown = false;
      if (rest === "") return { options, takesNext: "maybe", isKnown };
      continue;
    }
    const takes = option.value !== "none";
    options.push({ option, value: takes && rest !== "" ? rest : undefined });
    if (!takes) continue;
    if (rest === "") return { options, takesNext: takesNext(option), isKnown };
    // after an unknown letter, or one that may take no value, the rest is read as options too
    if (isKnown && option.value !== "either") return { options, takesNext: false, isKnown };
  }
  return { options, takesNext: isKnown ? false : "maybe", isKnown };
}

function readWordOption(level: Level, text: string): ReadOption {
  const bare = text.replace(/^--?/, "");
  const at = bare.indexOf("=");
  const name = at < 0 ? bare : bare.slice(0, at);
  const exact = level.words.get(bare) ?? level.words.get(name);
  if (exact !== undefined) {
    const value = level.words.has(bare) || at < 0 ? undefined : bare.slice(at + 1);
    return {
      options: [{ option: exact, value }],
      takesNext: value === undefined && takesNext(exact),
      isKnown: true,
    };
  }
  // values attached without `=`: `-B./dir`, `-fplugin-arg-x`
  const options = [...level.words].flatMap(([word, option]) =>
    option.value !== "none" && bare.startsWith(word) ? [{ option, value: bare.slice(word.length) }] : [],
  );
  return { options, takesNext: at >= 0 ? false : "maybe", isKnown: false };
}
