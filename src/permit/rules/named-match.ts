/**
 * Decides whether an argument vector means the command that a deny or ask rule names. Positions do not matter: options
 * before a subcommand are skipped, the rule's options match anywhere and in any spelling, and subcommands match by all
 * their names. An unknown option is read both with and without a value, so a rule may match slightly too often.
 */

import { readAt } from "../shell/program/named-command.ts";
import { isOptionLike, type Level, type ReadOption } from "../shell/program/option-table.ts";
import { findProgram } from "../shell/program/programs.ts";
import { mayBeFlag, staticWord, type Word } from "../shell/word.ts";
import { type Glob, matchesGlob, parseGlob } from "./glob.ts";
import type { RuleMatch } from "./rule.ts";

export type Match = "yes" | "may" | "no";
type CommandMatch = Extract<RuleMatch, { kind: "command" }>;

/** An option in the rule: by its names, or by the word as written. */
interface Wanted {
  readonly raw: Glob;
  readonly written: string | null;
  /** The options that the word contains: `-rf` is two. */
  readonly atoms: readonly { readonly names: readonly string[]; readonly value: Glob | undefined }[];
}

interface Named {
  readonly plain: readonly Glob[];
  readonly options: readonly Wanted[];
  /** Where options are looked up: the program, and the subcommands that the rule names. */
  readonly levels: readonly Level[];
}

/** `isOpen`: more words may follow. */
interface Command {
  readonly argv: readonly Word[];
  readonly isOpen: boolean;
}

const KNOWN = new WeakMap<CommandMatch, Map<Level | null, Named>>();

export function matchNamed(match: CommandMatch, argv: readonly Word[], isOpen: boolean): Match {
  const level = findProgram(argv[0]?.text ?? "");
  const named = namedBy(match, level);
  const command = { argv, isOpen };
  const plain = new PlainWords(named.plain, match.rest, command).match(level);
  if (plain === "no") return "no";
  const found = named.options.map((wanted) => matchOption(wanted, named.levels, command));
  if (found.includes("no")) return "no";
  return plain === "yes" && !found.includes("may") ? "yes" : "may";
}

function namedBy(match: CommandMatch, level: Level | null): Named {
  const known = KNOWN.get(match) ?? new Map<Level | null, Named>();
  KNOWN.set(match, known);
  const named = known.get(level) ?? readRule(match, level);
  known.set(level, named);
  return named;
}

function readRule({ words }: CommandMatch, top: Level | null): Named {
  const plain: Glob[] = [];
  const options: Wanted[] = [];
  const levels = top === null ? [] : [top];
  let level = top;
  let isEnded = false;
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as Glob;
    const text = plainText(word);
    if (text === "--") isEnded = true;
    else if (isEnded || !isOptionGlob(word, level, i)) {
      plain.push(word);
      level = (text === null ? undefined : level?.commands?.get(text)?.level()) ?? level;
      if (level !== null && !levels.includes(level)) levels.push(level);
    } else {
      const read = text === null || level === null ? null : readAt(level, staticWord(text), i === 1);
      const value = read?.takesNext === true ? words[++i] : undefined;
      options.push({ raw: word, written: text, atoms: atomsOf(text, read, value) });
    }
  }
  return { plain, options, levels };
}

function isOptionGlob(word: Glob, level: Level | null, at: number): boolean {
  const [first] = word;
  if (first?.kind === "char" && first.char === "-" && word.length > 1) return true;
  return level?.spec.isDashless === true && at === 1 && /^[A-Za-z]+$/.test(plainText(word) ?? "");
}

function atomsOf(written: string | null, read: ReadOption | null, next: Glob | undefined): Wanted["atoms"] {
  const options = read?.isKnown === true ? read.options : [];
  if (options.length > 0) {
    return options.map(({ option, value }, i) => ({
      names: option.names,
      value:
        value === undefined ? (i === options.length - 1 ? next : undefined) : (parseGlob(value) ?? undefined),
    }));
  }
  const name = written?.split("=")[0] ?? "";
  const letters = /^-[A-Za-z0-9]+$/.test(name) ? [...name.slice(1)].map((letter) => `-${letter}`) : [];
  const names = name.startsWith("--") ? [name] : letters;
  return names.map((each) => ({ names: [each], value: undefined }));
}

function matchOption(wanted: Wanted, levels: readonly Level[], { argv, isOpen }: Command): Match {
  const words = argv.slice(1);
  if (words.some(({ text }) => text !== null && matchesGlob(wanted.raw, text))) return "yes";
  const alike = wanted.atoms.every((atom) => atom.names.some((name) => hasAlike(name, levels, words)));
  if (wanted.atoms.length > 0 && alike) return "yes";
  const spelled = wanted.atoms.map((atom) => hasOption(atom, levels, argv));
  if (wanted.atoms.length > 0 && !spelled.includes("no")) return spelled.includes("may") ? "may" : "yes";
  return isOpen || words.some(mayBeUnknownOption) ? "may" : "no";
}

function mayBeUnknownOption(word: Word): boolean {
  return word.text === null && mayBeFlag(word);
}

function hasAlike(name: string, levels: readonly Level[], words: readonly Word[]): boolean {
  return levels.some(({ spec, long, short }) => {
    const option = name.startsWith("--") ? long.get(name) : short.get(name.charAt(1));
    const names = option?.names ?? [name];
    return names.some((each) => {
      const form = spec.alike?.[each];
      return form !== undefined && words.some(({ text }) => text !== null && form.test(text));
    });
  });
}

function hasOption(atom: Wanted["atoms"][number], levels: readonly Level[], argv: readonly Word[]): Match {
  let best: Match = "no";
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i] as Word;
    const text = word.text ?? (isOptionLike(word.prefix) ? word.prefix : "");
    const read = levels.flatMap((level) => readAt(level, staticWord(text), i === 1)?.options ?? []);
    const given = valueIn(atom.names, text, read);
    if (given === null) continue;
    const value = given === "next" ? argv[i + 1]?.text : word.text === null ? null : given;
    if (atom.value === undefined) return "yes";
    if (value == null) best = "may";
    else if (matchesGlob(atom.value, value)) return "yes";
  }
  return best;
}

/**
 * The value of the option if the word spells one of its names; "next": the next word; null: the word does not name it.
 */
function valueIn(names: readonly string[], text: string, read: ReadOption["options"]): string | null {
  for (const { option, value } of read)
    if (option.names.some((name) => names.includes(name))) return value ?? "next";
  if (!isOptionLike(text)) return null;
  const [name = ""] = text.split("=");
  const value = text.includes("=") ? text.slice(name.length + 1) : "next";
  if (names.includes(name)) return value;
  if (!text.startsWith("--")) {
    const letter = names.find((each) => each.length === 2 && text.includes(each.charAt(1)));
    return letter === undefined ? null : text.slice(text.indexOf(letter.charAt(1)) + 1) || "next";
  }
  return name.length > 3 && names.some((each) => each.startsWith(name)) ? value : null;
}

interface State {
  /** How many words of the rule have been found. */
  readonly done: number;
  readonly level: Level | null;
  readonly isSure: boolean;
  readonly isEnded: boolean;
}

/** Matches the rule's words that are not options, in their order, against the first such words of the command. */
class PlainWords {
  readonly #wanted: readonly Glob[];
  readonly #rest: boolean;
  readonly #argv: readonly Word[];
  readonly #isOpen: boolean;
  /** For each position in the command, the states that can be reached before it. */
  readonly #states: State[][];

  constructor(wanted: readonly Glob[], rest: boolean, { argv, isOpen }: Command) {
    this.#wanted = wanted;
    this.#rest = rest;
    this.#argv = argv;
    this.#isOpen = isOpen;
    this.#states = [...argv.map(() => []), []];
  }

  match(top: Level | null): Match {
    const end = this.#argv.length;
    let best: Match = "no";
    this.#reach(1, { done: 0, level: top, isSure: true, isEnded: false });
    for (let at = 1; at <= end; at++)
      for (const state of this.#states[at] as State[]) {
        const isFound = state.done === this.#wanted.length;
        if (isFound && (this.#rest || at === end)) {
          if (state.isSure && (this.#rest || !this.#isOpen)) return "yes";
          best = "may";
        } else if (at === end) {
          if (this.#isOpen) best = "may";
        } else if (this.#step(at, state)) best = "may";
      }
    return best;
  }

  #reach(at: number, state: State): void {
    const there = this.#states[Math.min(at, this.#argv.length)] as State[];
    if (!there.some((each) => includesState(each, state))) there.push(state);
  }

  /**
   * Advances by one word. Returns whether the word may or may not be the one that the rule names, which cannot be
   * decided.
   */
  #step(at: number, state: State): boolean {
    const word = this.#argv[at] as Word;
    const { text } = word;
    const { level, isEnded } = state;
    const glob = this.#wanted[state.done];
    if (text === null) return this.#stepUnknown(at, state);
    if (text === "--" && !isEnded) {
      this.#reach(at + 1, { ...state, isEnded: true });
      return false;
    }
    const read = isEnded ? null : level === null ? readUnknown(text) : readAt(level, word, at === 1);
    if (read !== null) {
      if (read.takesNext !== false && this.#argv[at + 1]?.isMany === true) return true;
      if (read.takesNext !== true) this.#reach(at + 1, state);
      if (read.takesNext !== false) this.#reach(at + 2, state);
      return false;
    }
    if (level?.spec.skips?.test(text) === true) this.#reach(at + 1, state);
    if (glob === undefined) return false;
    if (meansWord(glob, text, level)) {
      const below = level?.commands?.get(text)?.level() ?? namedLevel(glob, level) ?? leafLevel(level);
      this.#reach(at + 1, { ...state, done: state.done + 1, level: below });
      return false;
    }
    // the word may be an alias of the user's or a program of its own
    return level?.spec.isClosed === true && level.commands?.has(text) === false;
  }

  /** Advances past an unknown word. */
  #stepUnknown(at: number, state: State): boolean {
    const word = this.#argv[at] as Word;
    const glob = this.#wanted[state.done];
    if (word.isMany) return true;
    if (mayBeFlag(word) && !state.isEnded)
      for (const next of [1, 2]) this.#reach(at + next, { ...state, isSure: false });
    const literal = glob === undefined ? null : plainText(glob);
    if (glob !== undefined && (literal === null || literal.startsWith(word.prefix)))
      this.#reach(at + 1, { ...state, done: state.done + 1, isSure: false });
    return false;
  }
}

function includesState(each: State, { done, level, isSure, isEnded }: State): boolean {
  return each.done === done && each.level === level && each.isEnded === isEnded && (each.isSure || !isSure);
}

function namedLevel(glob: Glob, level: Level | null): Level | undefined {
  return level?.commands?.get(plainText(glob) ?? "")?.level();
}

/** Below an unlisted subcommand the options of the program are not known to apply. */
function leafLevel(level: Level | null): Level | null {
  return level?.commands == null ? level : null;
}

function readUnknown(text: string): { takesNext: boolean | "maybe" } | null {
  if (!isOptionLike(text)) return null;
  return { takesNext: text.includes("=") ? false : "maybe" };
}

/** Matches any name of a subcommand, or its beginning where the program accepts abbreviations. */
function meansWord(glob: Glob, text: string, level: Level | null): boolean {
  if (matchesGlob(glob, text)) return true;
  const command = level?.commands?.get(text);
  if (command?.names.some((name) => matchesGlob(glob, name)) === true) return true;
  if (level?.spec.abbreviates !== true || command !== undefined) return false;
  const literal = plainText(glob) ?? "";
  const names = level.commands?.get(literal)?.names ?? [literal];
  return names.some((name) => name.startsWith(text));
}

function plainText(glob: Glob): string | null {
  let text = "";
  for (const token of glob) {
    if (token.kind !== "char") return null;
    text += token.char;
  }
  return text;
}
