/**
 * Words and flags of a command line. `node:util` splits them (3 ms sooner than a library); the manual's rules for
 * global flags are here: they stand before or after the command, and an unknown flag is an error.
 */
import { parseArgs } from "node:util";
import { Fault } from "../abi/errors.ts";
import { invalid } from "./screen/errors.ts";

interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
}
export type FlagTable = Readonly<Record<string, Flag>>;

const GLOBAL_FLAGS: FlagTable = {
  json: { type: "boolean" },
  verbose: { type: "boolean", short: "v" },
  quiet: { type: "boolean", short: "q" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" },
  "no-color": { type: "boolean" },
};

/** The flags of `crux <intent>`; they may stand before the intent, so finding its first word needs them. */
export const RUN_FLAGS: FlagTable = {
  model: { type: "string", short: "m" },
  effort: { type: "string" },
  "fallback-model": { type: "string" },
  "max-steps": { type: "string" },
  agent: { type: "string" },
  agents: { type: "string" },
  budget: { type: "string" },
  "max-usd": { type: "string" },
  "max-time": { type: "string" },
  timeout: { type: "string" },
  detach: { type: "boolean", short: "d" },
  "permission-mode": { type: "string" },
  plan: { type: "boolean" },
  "enable-auto-mode": { type: "boolean" },
  "dangerously-skip-permissions": { type: "boolean" },
  allow: { type: "string" },
  deny: { type: "string" },
  "allowed-tools": { type: "string" },
  "disallowed-tools": { type: "string" },
  tools: { type: "string" },
  "system-prompt": { type: "string" },
  "system-prompt-file": { type: "string" },
  "append-system-prompt": { type: "string" },
  "append-system-prompt-file": { type: "string" },
  settings: { type: "string" },
  cwd: { type: "string" },
  "add-dir": { type: "string" },
  "mcp-config": { type: "string" },
  "strict-mcp-config": { type: "boolean" },
  worktree: { type: "boolean" },
  trust: { type: "boolean" },
  continue: { type: "boolean", short: "c" },
  resume: { type: "boolean", short: "r" },
};

/** Flags without a value that may be given one, as in `--worktree=name`. */
const MAY_HAVE_VALUE: ReadonlySet<string> = new Set(["--worktree", "--debug"]);

/** The flags that `crux -p` takes besides. */
export const PRINT_FLAGS: FlagTable = {
  print: { type: "boolean", short: "p" },
  "output-format": { type: "string" },
  "input-format": { type: "string" },
  "include-partial-messages": { type: "boolean" },
  "permission-prompt-tool": { type: "string" },
  "json-schema": { type: "string" },
  "max-turns": { type: "string" },
  "max-budget-usd": { type: "string" },
  "fork-session": { type: "boolean" },
  "setting-sources": { type: "string" },
  "allow-dangerously-skip-permissions": { type: "boolean" },
  "session-id": { type: "string" },
  name: { type: "string", short: "n" },
  "replay-user-messages": { type: "boolean" },
  "no-session-persistence": { type: "boolean" },
  debug: { type: "boolean" },
};

/** Spellings of other agents, for scripts that were written for them. */
const SPELLINGS: Readonly<Record<string, string>> = {
  allowedTools: "allowed-tools",
  disallowedTools: "disallowed-tools",
};

/** Where an intent begins is found with all of them. */
const ROOT_FLAGS: FlagTable = { ...RUN_FLAGS, ...PRINT_FLAGS };

/** A flag that needs a value was given without one. */
export class ValueMissing extends Fault {
  /** The flag as typed. */
  readonly flag: string;

  constructor(flag: string) {
    super({ code: "INVALID", message: `${flag} needs a value` });
    this.flag = flag;
  }
}

export type Mode = "json" | "quiet" | "verbose" | "default";

export interface Args {
  readonly flags: ReadonlyMap<string, string | true>;
  /** The words that are not flags, in order, without the name of the command. */
  readonly words: readonly string[];
  /** The words after `--`, which are also the last of `words`; absent without `--`. */
  readonly behind?: readonly string[];
  /** All values of each flag that takes one, in order: some flags may be repeated. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** The first word that is not a flag, and its index; undefined if there is none or `--` comes first. */
export function findFirstWord(
  argv: readonly string[],
  table: FlagTable = ROOT_FLAGS,
): { word: string; at: number } | undefined {
  for (const token of tokensOf(argv, table)) {
    if (token.kind === "option-terminator") return undefined;
    if (token.kind === "positional") return { word: token.value, at: token.index };
  }
  return undefined;
}

/** Client libraries name the format of their messages, and leave `-p` out. */
const MEANS_PRINT: ReadonlySet<string> = new Set(["print", "input-format"]);

/** Where `-p`, or a flag that means it, stands, before or after an intent; undefined: there is none. */
export function findPrint(argv: readonly string[]): number | undefined {
  for (const token of tokensOf(argv, ROOT_FLAGS)) {
    if (token.kind === "option-terminator") return undefined;
    if (token.kind === "option" && MEANS_PRINT.has(token.name)) return token.index;
  }
  return undefined;
}

/** The global flags that are set, read leniently: even an invalid command line determines how its error is shown. */
export function findGlobalFlags(argv: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const token of tokensOf(argv, ROOT_FLAGS))
    if (token.kind === "option" && Object.hasOwn(GLOBAL_FLAGS, token.name)) names.add(token.name);
  return names;
}

export function modeOf(flags: ReadonlySet<string>): Mode {
  if (flags.has("json")) return "json";
  if (flags.has("quiet")) return "quiet";
  return flags.has("verbose") ? "verbose" : "default";
}

/** Throws INVALID for a flag that is not in the table, lacks its value, or has a value it does not take. */
export function parseFlags(argv: readonly string[], table: FlagTable): Args {
  const all = { ...GLOBAL_FLAGS, ...table };
  const flags = new Map<string, string | true>();
  const values = new Map<string, string[]>();
  const words: string[] = [];
  let ownWords: number | undefined;
  for (const token of tokensOf(argv, table)) {
    if (token.kind === "option-terminator") ownWords = words.length;
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const flag = Object.hasOwn(all, token.name) ? all[token.name] : undefined;
    if (flag === undefined) throw unknownFlag(token.rawName, token.name);
    const value = flagValue(flag, token.rawName, token.value, token.inlineValue === true);
    flags.set(token.name, value);
    if (value !== true) values.set(token.name, [...(values.get(token.name) ?? []), value]);
  }
  return { flags, values, words, ...(ownWords === undefined ? {} : { behind: words.slice(ownWords) }) };
}

function unknownFlag(rawName: string, name: string): Fault {
  if (name === "print" || !Object.hasOwn(PRINT_FLAGS, name)) return invalid(`unknown flag: ${rawName}`);
  return invalid(`${rawName} goes with -p`, `crux -p ${rawName} …; see docs/print-mode.md`);
}

function flagValue(flag: Flag, rawName: string, value: string | undefined, isInline: boolean): string | true {
  if (flag.type === "boolean") {
    if (value !== undefined && !MAY_HAVE_VALUE.has(rawName)) throw invalid(`${rawName} takes no value`);
    return value ?? true;
  }
  // `--model --json`: the second is a flag, not a model
  if (value === undefined || (!isInline && /^-./.test(value))) throw new ValueMissing(rawName);
  return value;
}

function tokensOf(argv: readonly string[], table: FlagTable) {
  if (argv.length === 0) return [];
  const options: Record<string, Flag> = { ...GLOBAL_FLAGS, ...table };
  const spellings = new Map<string, string>();
  for (const [spelling, name] of Object.entries(SPELLINGS)) {
    const flag = options[name];
    if (flag === undefined || Object.hasOwn(table, spelling)) continue;
    options[spelling] = flag;
    spellings.set(spelling, name);
  }
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  return tokens.map((token) =>
    token.kind === "option" ? { ...token, name: spellings.get(token.name) ?? token.name } : token,
  );
}

/** The text of a flag; undefined if it is not set or empty. */
export function textFlag(args: Args, name: string): string | undefined {
  const value = args.flags.get(name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The whole number of a flag; 0 if it is not set. */
export function countFlag(args: Args, name: string): number {
  const text = args.flags.get(name);
  if (typeof text !== "string") return 0;
  if (!/^\d{1,15}$/.test(text)) throw invalid(`--${name} needs a whole number, not ${JSON.stringify(text)}`);
  return Number(text);
}

/** The `K=V` pairs of a repeatable flag. With `env`, a name alone takes its value from there. */
export function pairsFlag(
  args: Args,
  name: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  const pairs = (args.values.get(name) ?? []).map((text): [string, string] => {
    const at = text.indexOf("=");
    const key = at < 0 ? text : text.slice(0, at);
    const value = at < 0 ? env[key] : text.slice(at + 1);
    if (key !== "" && value !== undefined) return [key, value];
    throw invalid(`--${name} needs NAME=VALUE, not ${JSON.stringify(text)}`);
  });
  return Object.fromEntries(pairs);
}

/** The one decimal pid that `crux <command> <pid>` takes. */
export function onePid(args: Args, usage: string): number {
  const [text, ...more] = args.words;
  if (more.length > 0) throw invalid(`one pid at a time: ${args.words.join(" ")}`, usage);
  return pidOf(text, usage);
}

export function pidOf(text: string | undefined, usage: string): number {
  if (text === undefined) throw invalid("a pid is missing", usage);
  if (!/^\d{1,15}$/.test(text)) throw invalid(`not a pid: ${text}`, usage);
  return Number(text);
}

export function noWords(args: Args, usage: string): void {
  const [first] = args.words;
  if (first !== undefined) throw invalid(`unknown argument: ${first}`, usage);
}
