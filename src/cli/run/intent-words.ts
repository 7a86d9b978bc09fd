/** Which words of a command line begin an intent, and which were meant as a command. */
import { Fault } from "../../abi/errors.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import type { Args } from "../args.ts";
import { COMMANDS } from "../commands.ts";
import { UnknownCommand } from "../screen/errors.ts";

/**
 * Names reserved for later commands. They begin no intent: the same line would spend tokens today and be a command
 * later.
 */
const KEPT = setOf("login plugin hooks commands setup");

/** Reserved names that often begin a sentence: refused alone, accepted as an intent with more words. */
const KEPT_ALONE = setOf("permissions remote web node cron trace rename rm update upgrade wire runs");

/** Common names for what has another name here, or needs a second word. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  status: ["ps", "daemon status"],
  list: ["ps", "sessions"],
  start: ["daemon start"],
  restart: ["daemon restart"],
  up: ["compose up"],
  down: ["compose down"],
  quit: ["shutdown"],
  exit: ["shutdown"],
  history: ["steps", "journal"],
  usage: ["cost", "budget"],
  continue: ["chat -c", "cont"],
  settings: ["config"],
  check: ["doctor", "fsck"],
  login: ["auth login"],
  logout: ["auth logout"],
  models: ["model list"],
  unmount: ["umount"],
};

const MAX_NAMED = 3;
/** In these scripts a whole sentence has no blank: 分析代码 is an intent, not a word. */
const WITHOUT_BLANKS = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

/** Throws if the first word is reserved for a later command, or is a typo of a command that takes only pids. */
export function refuseKept({ words, behind }: Args): void {
  const [word = "", ...more] = words;
  if (behind !== undefined) return;
  if (KEPT.has(word) || (KEPT_ALONE.has(word) && more.length === 0)) throw isKept(word, words);
  const near =
    more.length > 0 && more.every((each) => /^\d+$/.test(each)) ? findNearCommand(word) : undefined;
  if (near !== undefined) throw new UnknownCommand(words.join(" "), [[near, ...more].join(" ")]);
}

/** Throws for a single word: it is a mistyped command, or one of another system. After `--` it is an intent. */
export function refuseLoneWord({ words, behind }: Args): void {
  const [word = "", ...more] = words;
  if (behind !== undefined || more.length > 0 || /^$|\s/.test(word) || WITHOUT_BLANKS.test(word)) return;
  throw new UnknownCommand(word, nearCommands(word));
}

/** Commands, some with their verb, that the word may stand for; nearest first. */
export function nearCommands(word: string): readonly string[] {
  const other = findOther(word);
  if (other !== undefined) return other;
  const known = [...commandNames(), ...Object.keys(OTHER_NAMES).filter(({ length }) => length > 2)];
  const slips = nearNames(word, known, word.length < 6 ? 1 : 2).filter((name) => !isWordOfItsOwn(word, name));
  return [...new Set(slips.flatMap((name) => findOther(name) ?? [name]))].slice(0, MAX_NAMED);
}

/** The command at one edit distance: a letter more, less, replaced, or two swapped. */
function findNearCommand(word: string): string | undefined {
  return nearNames(word, commandNames(), 1).find((name) => !isWordOfItsOwn(word, name));
}

/** The commands that users type. */
function commandNames(): readonly string[] {
  return Object.keys(COMMANDS).filter((name) => !name.startsWith("_"));
}

function findOther(name: string): readonly string[] | undefined {
  return Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
}

/**
 * A different first letter is seldom a typo (`work` is not `fork`), and one different letter of two is half the word.
 */
function isWordOfItsOwn(word: string, name: string): boolean {
  const isOther = word.length === name.length && countOther(word, name) === 1;
  return isOther && (name.length < 3 || word[0] !== name[0]);
}

function countOther(word: string, name: string): number {
  return [...name].filter((letter, at) => letter !== word[at]).length;
}

function isKept(word: string, words: readonly string[]): Fault {
  const others = findOther(word);
  if (others !== undefined)
    return new UnknownCommand(
      words.join(" "),
      others.map((name) => [name, ...words.slice(1)].join(" ")),
    );
  return new Fault({
    code: "UNAVAILABLE",
    message: `crux ${word} is not part of this version`,
    hint: `crux -- ${words.join(" ")} to use it as an intent`,
  });
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}
