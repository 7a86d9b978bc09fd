/**
 * Words and flags of a command line. `node:util` splits them (3 ms sooner than a library); the rules of the manual,
 * global flags, are here: they stand before or after the command, and nothing unknown is let through.
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
  "max-steps": { type: "string" },
  agent: { type: "string" },
  budget: { type: "string" },
  "max-usd": { type: "string" },
  "max-time": { type: "string" },
  detach: { type: "boolean", short: "d" },
  "permission-mode": { type: "string" },
  plan: { type: "boolean" },
  "enable-auto-mode": { type: "boolean" },
  "dangerously-skip-permissions": { type: "boolean" },
  allow: { type: "string" },
  deny: { type: "string" },
  settings: { type: "string" },
  cwd: { type: "string" },
  trust: { type: "boolean" },
  continue: { type: "boolean", short: "c" },
  resume: { type: "boolean", short: "r" },
};

/** A flag that takes a value stands without one. */
export class ValueMissing extends Fault {
  /** As it was typed. */
  readonly flag: string;

  constructor(flag: string) {
    super({ code: "INVALID", message: `${flag} needs a value` });
    this.flag = flag;
  }
}

export type Mode = "json" | "quiet" | "verbose" | "default";

export interface Args {
  readonly flags: ReadonlyMap<string, string | true>;
  /** What is not a flag, in order; without the command's own name. */
  readonly words: readonly string[];
  /** The last of the words: those behind `--`; absent where it is. */
  readonly behind?: readonly string[];
  /** Every value of each flag that takes one, in order: some may be given more than once. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** The first word that is not a flag, and its place; absent when there is none or `--` comes first. */
export function findFirstWord(
  argv: readonly string[],
  table: FlagTable = RUN_FLAGS,
): { word: string; at: number } | undefined {
  for (const token of tokensOf(argv, table)) {
    if (token.kind === "option-terminator") return undefined;
    if (token.kind === "positional") return { word: token.value, at: token.index };
  }
  return undefined;
}

/** Which global flags are set, read leniently: a bad command line still says how its error is to be shown. */
export function findGlobalFlags(argv: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const token of tokensOf(argv, RUN_FLAGS))
    if (token.kind === "option" && Object.hasOwn(GLOBAL_FLAGS, token.name)) names.add(token.name);
  return names;
}

export function modeOf(flags: ReadonlySet<string>): Mode {
  if (flags.has("json")) return "json";
  if (flags.has("quiet")) return "quiet";
  return flags.has("verbose") ? "verbose" : "default";
}

/** Throws INVALID for a flag that is not in the table, lacks its value, or has one that it does not take. */
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
    if (flag === undefined) throw invalid(`unknown flag: ${token.rawName}`);
    const value = flagValue(flag, token.rawName, token.value, token.inlineValue === true);
    flags.set(token.name, value);
    if (value !== true) values.set(token.name, [...(values.get(token.name) ?? []), value]);
  }
  return { flags, values, words, ...(ownWords === undefined ? {} : { behind: words.slice(ownWords) }) };
}

function flagValue(flag: Flag, rawName: string, value: string | undefined, isInline: boolean): string | true {
  if (flag.type === "boolean") {
    if (value !== undefined) throw invalid(`${rawName} takes no value`);
    return true;
  }
  // `--model --json`: the second is a flag, not a model
  if (value === undefined || (!isInline && /^-./.test(value))) throw new ValueMissing(rawName);
  return value;
}

function tokensOf(argv: readonly string[], table: FlagTable) {
  const options = { ...GLOBAL_FLAGS, ...table };
  return parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

/** A flag's text; undefined when it is not set or empty. */
export function textFlag(args: Args, name: string): string | undefined {
  const value = args.flags.get(name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A flag's whole number; 0 when it is not set. */
export function countFlag(args: Args, name: string): number {
  const text = args.flags.get(name);
  if (typeof text !== "string") return 0;
  if (!/^\d{1,15}$/.test(text)) throw invalid(`--${name} needs a whole number, not ${JSON.stringify(text)}`);
  return Number(text);
}

/** `K=V` of each time a flag was given. A name alone takes its value from the environment, where that is allowed. */
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
