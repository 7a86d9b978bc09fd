/**
 * Arguments that do more than the program is for: options and operands that start a program, write a file, or bring in
 * settings, code or another place. An allow rule covers such an argument only if it spells it: `git *` does not cover
 * `git -c core.pager=x log`. An unknown word counts as one wherever an option could be.
 */
import { posix } from "node:path";
import { mayBeFlag, type Word } from "../word.ts";
import { readAt } from "./named-command.ts";
import { isOptionLike, type Level, type ReadOption, readOption, type UsedOption } from "./option-table.ts";
import { findProgram } from "./programs.ts";

interface EscalatingArg {
  /** Position in the argument vector. */
  readonly at: number;
  /** null: an unknown word, which no rule can spell. */
  readonly text: string | null;
}

/** Whether unknown further arguments of the program may be such options. */
export function canEscalate(program: string): boolean {
  return findProgram(program)?.hasDeeds === true;
}

const KNOWN = new WeakMap<readonly Word[], readonly EscalatingArg[]>();

/** The arguments that an allow rule must spell. */
export function escalatingArgs(argv: readonly Word[]): readonly EscalatingArg[] {
  const known = KNOWN.get(argv) ?? findEscalating(argv);
  KNOWN.set(argv, known);
  return known;
}

function findEscalating(argv: readonly Word[]): readonly EscalatingArg[] {
  const level = findProgram(argv[0]?.text ?? "");
  if (level === null || !level.hasDeeds) return [];
  const found = new Map<number, EscalatingArg>();
  const seen = new Set<string>();
  const depths: Level[] = [];
  const work: { level: Level; at: number }[] = [{ level, at: 1 }];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (!depths.includes(next.level)) depths.push(next.level);
    const key = `${depths.indexOf(next.level)} ${next.at}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const scan = new Scan(argv, next.level, next.at);
    for (const each of scan.found) found.set(each.at, each);
    work.push(...scan.below);
  }
  return [...found.values()];
}

/** Scans one level of the command line, up to each subcommand that may begin there. */
class Scan {
  readonly found: EscalatingArg[] = [];
  readonly below: { level: Level; at: number }[] = [];
  readonly #argv: readonly Word[];
  readonly #level: Level;
  readonly #operands: { text: string | null; at: number }[] = [];
  readonly #used: UsedOption[] = [];

  constructor(argv: readonly Word[], level: Level, from: number) {
    this.#argv = argv;
    this.#level = level;
    let isEnded = false;
    for (let at = from; at < argv.length; ) {
      const { text } = argv[at] as Word;
      if (text === "--" && level.spec.ignoresEnd !== true) {
        isEnded = true;
        at++;
        continue;
      }
      const read = isEnded || text === null ? null : readAt(level, argv[at] as Word, at === 1);
      if (read !== null) at = this.#option(at, read);
      else if (text === null && !isEnded && this.#isOpen(at)) this.#flag(at++);
      else if (this.#operand(at)) break;
      else at++;
    }
    this.#judge();
  }

  #flag(at: number): void {
    this.found.push({ at, text: this.#argv[at]?.text ?? null });
  }

  /** Returns the position after the option. A value that looks like an option is also treated as one. */
  #option(at: number, read: ReadOption): number {
    const next = this.#argv[at + 1];
    for (const { option, value } of read.options) {
      if (option.deed !== null) this.#flag(at);
      const given = value ?? (read.takesNext === false ? undefined : (next?.text ?? null));
      this.#used.push({ option, at, value: given });
    }
    const isValue =
      next !== undefined && !(next.text !== null && isOptionLike(next.text)) && next.text !== "--";
    if (read.takesNext === true && isValue) {
      if (next.isMany) this.#flag(at + 1);
      return at + 2;
    }
    if (read.takesNext === "maybe" && isValue && this.#level.commands !== null)
      this.below.push({ level: this.#level, at: at + 2 });
    return at + 1;
  }

  /**
   * Whether an unknown word may be such an option. If only its value is unknown, it counts only if the option itself
   * does.
   */
  #isOpen(at: number): boolean {
    const word = this.#argv[at] as Word;
    if (!mayBeFlag(word) || isTextValue(this.#argv, at)) return false;
    if (word.isMany || !isOptionLike(word.prefix)) return true;
    const read = readOption(this.#level, word.prefix);
    const last = read.options.at(-1)?.option;
    const hasValue =
      /^--?[\w-]+=/.test(word.prefix) || (read.isKnown && last !== undefined && last.value !== "none");
    return !hasValue || read.options.some(({ option }) => option.deed !== null);
  }

  /** Whether this level ends here: a subcommand, or a program that takes the rest, reads what follows. */
  #operand(at: number): boolean {
    const { spec, commands } = this.#level;
    const { text } = this.#argv[at] as Word;
    if (commands === null || (text !== null && spec.skips?.test(text) === true)) {
      if (commands === null) this.#operands.push({ text, at });
      return spec.stops === true;
    }
    const command = text === null ? undefined : commands.get(text);
    if (command === undefined) {
      if (spec.isClosed === true) this.#flag(at);
      this.#operands.push({ text, at });
      return spec.stops === true;
    }
    const level = command.level();
    if (level.spec.deed !== undefined) this.#flag(at);
    this.below.push({ level, at: at + 1 });
    return true;
  }

  #judge(): void {
    const judged = this.#level.spec.operands?.(
      this.#operands.map(({ text }) => text),
      this.#used,
    );
    for (const place of judged ?? []) {
      const at = typeof place === "number" ? this.#operands[place]?.at : place.at;
      if (at !== undefined) this.#flag(at);
    }
  }
}

/** Whether the word is plain text, such as the message of a commit. */
function isTextValue(argv: readonly Word[], at: number): boolean {
  if (posix.basename(argv[0]?.text ?? "") !== "git" || argv[at]?.isMany === true) return false;
  const command = argv[1]?.text ?? "";
  const flag = argv[at - 1]?.text ?? "";
  return /^(?:commit|tag|merge|stash|notes)$/.test(command) && /^(?:-[a-z]*m|--message)$/.test(flag);
}

/** Whether the word names no file because it is plain text. */
export function isTextWord(argv: readonly Word[], at: number): boolean {
  return isTextValue(argv, at);
}
