import { type Args, type FlagTable, findFirstWord, parseFlags } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";

const BEFORE: FlagTable = { file: { type: "string", short: "f" }, project: { type: "string", short: "p" } };
const BEHIND: FlagTable = { file: { type: "string" }, project: { type: "string", short: "p" } };

const VERB_FLAGS = {
  up: {
    detach: { type: "boolean", short: "d" },
    "remove-orphans": { type: "boolean" },
    trust: { type: "boolean" },
  },
  down: { timeout: { type: "string" } },
  ps: {},
  logs: { follow: { type: "boolean", short: "f" }, tail: { type: "string" } },
  config: {},
} as const satisfies Record<string, FlagTable>;

type Verb = keyof typeof VERB_FLAGS;
const USAGE = `crux compose [-f FILE] [-p NAME] ${Object.keys(VERB_FLAGS).join("|")}`;

/** `crux compose [-f FILE] [-p NAME] <verb> …`; each verb is loaded only when it is called. */
export const compose: Command = { flags: {}, parse: parseComposeArgs, follows, run };

const VERBS: Readonly<Record<Verb, () => Promise<(call: Call) => Promise<number>>>> = {
  up: async () => (await import("./up.ts")).up,
  down: async () => (await import("./down.ts")).down,
  ps: async () => (await import("./ps.ts")).ps,
  logs: async () => (await import("./logs.ts")).logs,
  config: async () => (await import("./config.ts")).config,
};

function follows({ words: [verb], flags }: Args): boolean {
  return (verb === "up" && !flags.has("detach")) || (verb === "logs" && flags.has("follow"));
}

async function run(call: Call): Promise<number> {
  const [verb] = call.args.words;
  if (verb === undefined) throw invalid("a verb is missing", USAGE);
  if (!isVerb(verb)) throw invalid(`unknown argument: ${verb}`, USAGE);
  const start = await VERBS[verb]();
  return start(call);
}

/**
 * Flags before the verb belong to the project, flags after it to the verb, so `-f` is the file before it and `--follow`
 * after it. The verb is the first of the words, which are empty without one.
 */
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

function isVerb(word: string): word is Verb {
  return Object.hasOwn(VERB_FLAGS, word);
}
