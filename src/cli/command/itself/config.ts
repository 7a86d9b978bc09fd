/**
 * `crux config`: shows the settings with their sources, and changes one value, which the daemon checks before it is
 * written.
 */
import type { Params } from "../../../abi/methods/methods.ts";
import type { WireSetting } from "../../../abi/methods/settings.ts";
import { type Args, noWords } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { invalid } from "../../screen/errors.ts";
import { type Column, table } from "../../screen/table/table.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import { runVerb, type Verb } from "./verbs.ts";

export const config: Command = {
  flags: {
    all: { type: "boolean", short: "a" },
    user: { type: "boolean" },
    project: { type: "boolean" },
    local: { type: "boolean" },
  },
  run,
};

const USAGE = "crux config list | get <key> | set <key> <value> | unset <key> [--user|--project|--local]";
const PLACES = { user: "userSettings", project: "projectSettings", local: "localSettings" } as const;
type Place = keyof typeof PLACES;

/** Environment variables of this terminal that override a setting. */
const VARIABLES: Readonly<Record<string, string>> = { model: "CRUX_MODEL", modelType: "CRUX_PROVIDER" };

interface Shown extends Omit<WireSetting, "source"> {
  readonly source: WireSetting["source"] | "env";
}

const VERBS: Readonly<Record<string, Verb>> = { list, get, set, unset };

function run(call: Call): Promise<number> {
  return runVerb(call, VERBS, "list", USAGE);
}

async function list(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { args, console, host } = call;
  noWords({ ...args, words }, USAGE);
  placeOf(args, false);
  const found = await client.request("settings.list", { cwd: host.cwd });
  const all = withEnvironment(found.settings, host.env);
  const shown = args.flags.has("all") ? all : all.filter(({ source }) => source !== "default");
  if (console.mode === "json") await console.data({ settings: shown, problems: found.problems });
  else if (console.mode === "quiet") for (const { key } of shown) await console.line(key);
  else if (shown.length > 0) await console.line(table(COLUMNS, shown, console.room));
  else await console.line("Nothing is set; crux config list --all shows the defaults.");
  for (const problem of found.problems) await console.errorLine(`! ${safeLine(problem)}`);
  return 0;
}

/** Exit code 1: the setting is not set and has no default. */
async function get(
  { args, console, host }: Call,
  client: DaemonClient,
  words: readonly string[],
): Promise<number> {
  const key = oneKey(words);
  placeOf(args, false);
  const found = await client.request("settings.list", { cwd: host.cwd, key });
  const all = withEnvironment(found.settings, host.env, key);
  const holding = all.filter(({ ignored }) => ignored === undefined);
  if (console.mode === "json") await console.data({ settings: all });
  else if (console.mode === "verbose" && all.length > 0)
    await console.line(table(COLUMNS, all, console.room));
  else
    for (const { key: name, value } of holding)
      await console.line(name === key ? shownValue(value) : `${name} = ${shownValue(value)}`);
  return holding.length > 0 ? 0 : 1;
}

async function set(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const [key, text, ...more] = words;
  if (key === undefined || text === undefined) throw invalid("a key and a value are needed", USAGE);
  if (more[0] !== undefined)
    throw invalid(`one value: ${more[0]}`, "a value with blanks is quoted; a list is JSON");
  return write(call, client, { key, value: parsed(text) });
}

async function unset(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  return write(call, client, { key: oneKey(words) });
}

async function write(
  { args, console, host }: Call,
  client: DaemonClient,
  change: Pick<Params<"settings.set">, "key" | "value">,
): Promise<number> {
  const { key } = change;
  const destination = PLACES[placeOf(args, true)];
  const done = await client.request("settings.set", { cwd: host.cwd, destination, ...change });
  if (console.mode === "json") await console.data(done);
  else if (console.isScreen) {
    const verb = "value" in change ? "set" : "taken out";
    const what = done.changed ? verb : "value" in change ? "is so already" : "is not there";
    await console.line(`${safeLine(key)}: ${what} in ${safeLine(done.file)}`);
    const variable = VARIABLES[key];
    if (variable !== undefined && (host.env[variable] ?? "") !== "")
      await console.line(`! ${variable} is set in this terminal and counts before it`);
    if (done.note !== undefined) await console.line(`! ${safeLine(done.note)}`);
  }
  return 0;
}

function placeOf(args: Args, mayNamePlace: boolean): Place {
  const named = (Object.keys(PLACES) as Place[]).filter((place) => args.flags.has(place));
  if (named.length > 1) throw invalid("one place at a time: --user, --project or --local", USAGE);
  if (named.length > 0 && !mayNamePlace) throw invalid(`--${named[0]} goes with set and unset`, USAGE);
  if (mayNamePlace && args.flags.has("all")) throw invalid("--all goes with list", USAGE);
  return named[0] ?? "user";
}

function oneKey(words: readonly string[]): string {
  const [key, ...more] = words;
  if (key === undefined || key === "") throw invalid("a key is missing", USAGE);
  if (more[0] !== undefined) throw invalid(`unknown argument: ${more[0]}`, USAGE);
  return key;
}

/** The value as JSON if it parses; otherwise as text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A variable overrides every file except the policy's. */
function withEnvironment(
  settings: readonly WireSetting[],
  env: Readonly<Record<string, string | undefined>>,
  key?: string,
): readonly Shown[] {
  const set = Object.entries(VARIABLES).filter(
    ([name, variable]) => (env[variable] ?? "") !== "" && (key === undefined || key === name),
  );
  const names = new Map(set);
  const files = settings.map((each): Shown => {
    const variable = names.get(each.key);
    return variable === undefined ? each : { ...each, ignored: `${variable} is set in this terminal` };
  });
  return [
    ...files,
    ...set.map(
      ([name, variable]): Shown => ({ key: name, value: env[variable], source: "env", file: variable }),
    ),
  ];
}

function shownValue(value: unknown): string {
  return safeLine(typeof value === "string" ? value : JSON.stringify(value));
}

const COLUMNS: readonly Column<Shown>[] = [
  { head: "KEY", align: "left", cell: ({ key }) => safeLine(key) },
  { head: "VALUE", align: "left", maxColumns: 48, cell: ({ value }) => shownValue(value) },
  { head: "SOURCE", align: "left", cell: ({ source }) => source },
  {
    head: "WHERE",
    align: "left",
    cell: ({ file = "", ignored }) =>
      safeLine(ignored === undefined ? file : `${file} (does not count: ${ignored})`),
  },
];
