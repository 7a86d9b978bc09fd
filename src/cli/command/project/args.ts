/**
 * `crux compose [-f FILE] [-p NAME] <verb> …`: flags before the verb belong to the project, flags after it to the verb,
 * so `-f` is the file before it and `--follow` after it.
 */
import { type Args, type FlagTable, findFirstWord, parseFlags } from "../../args.ts";
import { invalid } from "../../screen/errors.ts";

const BEFORE: FlagTable = { file: { type: "string", short: "f" }, project: { type: "string", short: "p" } };
const BEHIND: FlagTable = { file: { type: "string" }, project: { type: "string", short: "p" } };

const VERB_FLAGS = {
  up: { detach: { type: "boolean", short: "d" }, "remove-orphans": { type: "boolean" } },
  down: { timeout: { type: "string" } },
  ps: {},
  logs: { follow: { type: "boolean", short: "f" }, tail: { type: "string" } },
  config: {},
} as const satisfies Record<string, FlagTable>;

export type Verb = keyof typeof VERB_FLAGS;
export const USAGE = `crux compose [-f FILE] [-p NAME] ${Object.keys(VERB_FLAGS).join("|")}`;

/** The verb is the first of the words, which are empty without one. */
export function parseComposeArgs(argv: readonly string[]): Args {
  const first = findFirstWord(argv, BEFORE);
  const before = parseFlags(first === undefined ? argv : argv.slice(0, first.at), BEFORE);
  if (first === undefined) return before;
  if (!isVerb(first.word)) throw invalid(`unknown argument: ${first.word}`, USAGE);
  const behind = parseFlags(argv.slice(first.at + 1), { ...BEHIND, ...VERB_FLAGS[first.word] });
  return {
    flags: new Map([...before.flags, ...behind.flags]),
    values: new Map([...before.values, ...behind.values]),
    words: [first.word, ...behind.words],
  };
}

export function isVerb(word: string): word is Verb {
  return Object.hasOwn(VERB_FLAGS, word);
}
