/** `crux model`: which model would answer here and why, which models exist, and setting one. */
import type { WireModel } from "../../../abi/methods/model.ts";
import { type Args, noWords, pidOf, textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { clientEnvironment } from "../../run/environment.ts";
import { workingDirectory } from "../../run/run-options.ts";
import { invalid } from "../../screen/errors.ts";
import { chosenWords, nameOf } from "../../screen/model-words.ts";
import { driverTable, modelTable } from "../../screen/table/model-table.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import { runVerb, type Verb } from "./verbs.ts";

export const model: Command = {
  flags: { model: { type: "string", short: "m" }, agent: { type: "string" } },
  run,
};

const USAGE = "crux model [list | set <name> | <pid> <name>] [-m <model>] [--agent <name>]";

const VERBS: Readonly<Record<string, Verb>> = { show, list, set };

function run(call: Call): Promise<number> {
  const [pid = ""] = call.args.words;
  return /^\d+$/.test(pid) ? choose(call, pid) : runVerb(call, VERBS, "show", USAGE);
}

/** Another model for a process that is there already. */
async function choose({ args, host, console }: Call, word: string): Promise<number> {
  noFlags(args);
  const pid = pidOf(word, USAGE);
  const [, name, ...more] = args.words;
  if (name === undefined || name === "" || more.length > 0)
    throw invalid("one name of a model is needed", USAGE);
  const client = await host.daemon.ensure();
  const wish = { pid, model: name, env: clientEnvironment(host.env) };
  const found = await client.request("process.model", wish).finally(() => client.close());
  if (console.mode === "json") await console.data(found);
  else if (console.mode !== "quiet") await console.line(`[kernel] PID ${pid}: ${chosenWords(found)}`);
  return 0;
}

/** Shows the model that `crux <intent>` would use here and now; fails where that would fail. */
async function show(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { args, console } = call;
  noWords({ ...args, words }, USAGE);
  const found = await client.request("model.resolve", wishOf(call, textFlag(args, "model")));
  if (console.mode === "json") await console.data(found);
  else if (console.mode === "quiet") await console.line(nameOf(found));
  else {
    await console.line(nameOf(found));
    await console.line(`  chosen by: ${safeLine(found.why)}`);
    if (found.note !== undefined) await console.line(`  ! ${safeLine(found.note)}`);
  }
  return 0;
}

function wishOf({ args, host }: Call, name: string | undefined) {
  const agent = textFlag(args, "agent");
  return {
    cwd: workingDirectory(args, host),
    env: clientEnvironment(host.env),
    ...(name === undefined ? {} : { model: name }),
    ...(agent === undefined ? {} : { agent }),
  };
}

async function list(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { args, console, host } = call;
  noWords({ ...args, words }, USAGE);
  noFlags(args);
  const found = await client.request("model.list", { env: clientEnvironment(host.env) });
  if (console.mode === "json") await console.data(found);
  else if (console.mode === "quiet") for (const each of found.models) await console.line(nameOfModel(each));
  else {
    await console.line(driverTable(found.drivers, console.room));
    await console.line("");
    await console.line(modelTable(found.models, console.room));
    await console.line(
      "\nPrices: US dollars per million tokens. A server of your own may have other models.",
    );
  }
  return 0;
}

function nameOfModel({ driver, id }: WireModel): string {
  return nameOf({ driver, model: id });
}

/** The setting is written even if no driver has the model yet; an unknown driver is refused. */
async function set(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { args, console, host } = call;
  noFlags(args);
  const [name, ...more] = words;
  if (name === undefined || name === "" || more.length > 0)
    throw invalid("one name of a model is needed", USAGE);
  const problem = await client.request("model.resolve", wishOf(call, name)).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (isUnknown(problem)) throw problem;
  const request = { cwd: host.cwd, destination: "userSettings", key: "model", value: name } as const;
  const done = await client.request("settings.set", request);
  if (console.mode === "json") await console.data(done);
  else if (console.isScreen)
    await console.line(`model: ${done.changed ? "set" : "is so already"} in ${safeLine(done.file)}`);
  if (problem !== undefined && console.mode !== "json") await console.fail(problem);
  const variable = ["CRUX_MODEL", "CRUX_PROVIDER"].find((each) => (host.env[each] ?? "") !== "");
  if (variable !== undefined && console.isScreen)
    await console.line(`! ${variable} is set in this terminal and counts before it`);
  return 0;
}

function isUnknown(problem: unknown): boolean {
  return problem instanceof Error && (!("code" in problem) || problem.code !== "UNAVAILABLE");
}

function noFlags({ flags }: Args): void {
  const flag = ["model", "agent"].find((each) => flags.has(each));
  if (flag !== undefined) throw invalid(`--${flag} goes with crux model alone`, USAGE);
}
