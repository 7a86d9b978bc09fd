/**
 * Finds the command that an argument vector means: its subcommands behind options, its options in every spelling, its
 * operands.
 */
import { posix } from "node:path";
import { staticWord, type Word } from "../word.ts";
import {
  isOptionLike,
  type Level,
  type ReadOption,
  readDashless,
  readOption,
  versionless,
} from "./option-table.ts";
import { findProgram } from "./programs.ts";

/** Programs whose subcommands also exist as programs of their own. */
const DASHED = /^(git|docker|podman|cargo|kubectl|gh|npm|hg)-([a-z][a-z0-9-]*)$/;
/** Options of python that run a module as the program. */
const MODULE = /^-[bBdEhiIOPqsSuvx]*m(.*)$/;

/** Removes the options before the subcommand that are known to be harmless; the other words stay. */
export function withoutHarmlessGlobals(argv: readonly Word[]): readonly Word[] {
  const kept: Word[] = argv.slice(0, 1);
  let level = findProgram(argv[0]?.text ?? "");
  let at = 1;
  for (; at < argv.length && level?.commands != null; at++) {
    const word = argv[at] as Word;
    if (word.text === null || word.text === "--") break;
    if (isOptionLike(word.text)) {
      const read = readOption(level, word.text);
      if (!isHarmless(read)) break;
      if (read.takesNext === true && argv[++at]?.text == null) return argv;
      continue;
    }
    kept.push(word);
    level = level.commands.get(word.text)?.level() ?? null;
  }
  return [...kept, ...argv.slice(at)];
}

function isHarmless({ isKnown, takesNext, options }: ReadOption): boolean {
  return isKnown && takesNext !== "maybe" && options.every(({ option }) => option.deed === null);
}

/** Reads a word as an option at a level: of the program, or of a subcommand. */
export function readAt(level: Level, word: Word, isFirst: boolean): ReadOption | null {
  const text = word.text ?? "";
  if (isOptionLike(text)) return readOption(level, text);
  return isFirst && level.spec.isDashless === true && /^[A-Za-z]+$/.test(text)
    ? readDashless(level, text)
    : null;
}

const MAX_KEPT_NAMES = 1000;
const names = new Map<string, readonly string[]>();

/** The names by which rules may mean a program: as called, without its version, in lower case. */
export function programNames(path: string): readonly string[] {
  const known = names.get(path);
  if (known !== undefined) return known;
  const name = posix.basename(path);
  const found = [...new Set([name, versionless(name), name.toLowerCase()])].filter((each) => each !== "");
  if (names.size >= MAX_KEPT_NAMES) names.clear();
  names.set(path, found);
  return found;
}

const MEANT = new WeakMap<readonly Word[], readonly (readonly Word[])[]>();

/** `git-push x`, `docker-compose x` and `python3 -m pip x` mean `git push x`, `docker compose x` and `pip x` as well. */
export function meantArgvs(argv: readonly Word[]): readonly (readonly Word[])[] {
  const known = MEANT.get(argv);
  if (known !== undefined) return known;
  const found = [argv, ...otherArgvs(argv)];
  MEANT.set(argv, found);
  return found;
}

function otherArgvs(argv: readonly Word[]): readonly (readonly Word[])[] {
  const [first, ...args] = argv;
  const name = posix.basename(first?.text ?? "");
  const [, program, command] = DASHED.exec(name) ?? [];
  if (program !== undefined && command !== undefined)
    return [[staticWord(program), staticWord(command), ...args]];
  if (/^(?:docker|podman)$/.test(name)) {
    const at = args.findIndex(({ text }) => text === "compose");
    return at < 0 ? [] : [[staticWord(`${name}-compose`), ...args.slice(at + 1)]];
  }
  if (!/^(?:python|pypy)[\d.]*$/.test(name)) return [];
  const at = args.findIndex(({ text }) => MODULE.test(text ?? ""));
  const joined = MODULE.exec(args[at]?.text ?? "")?.[1] ?? "";
  const module = joined === "" ? args[at + 1]?.text : joined;
  if (at < 0 || module == null) return [];
  return [[staticWord(module), ...args.slice(at + (joined === "" ? 2 : 1))]];
}
