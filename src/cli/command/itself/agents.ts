/** `crux agents` and `crux skills`: lists them, shows one, and checks them. */

import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { codeOf, Fault } from "../../../abi/errors.ts";
import type { Definition, DefinitionIssue } from "../../../abi/methods/definition.ts";
import { counted } from "../../../lib/text/counted.ts";
import type { Call, Command } from "../../command.ts";
import { agentsFlag, workingDirectory } from "../../run/run-options.ts";
import { invalid } from "../../screen/errors.ts";
import { definitionTable } from "../../screen/table/definition-table.ts";
import { safeLine, safeLines } from "../../screen/text/safe-text.ts";

type Kind = "agents" | "skills";

export const agents: Command = { flags: { agents: { type: "string" } }, run: (call) => run(call, "agents") };
export const skills: Command = { flags: {}, run: (call) => run(call, "skills") };

async function run(call: Call, kind: Kind): Promise<number> {
  const [verb = "list", name, ...more] = call.args.words;
  const usage = `crux ${kind} [list | show <name> | check [name|path]]`;
  if (more.length > 0) throw invalid(`one name at a time: ${call.args.words.slice(1).join(" ")}`, usage);
  switch (verb) {
    case "list":
      if (name !== undefined) throw invalid(`list takes no name: ${name}`, usage);
      await list(call, kind, await look(call, kind, undefined));
      return tellUntrusted(call, kind);
    case "show":
      if (name === undefined) throw invalid("a name is missing", usage);
      return show(call, await look(call, kind, name));
    case "check":
      if (name === undefined) await tellUntrusted(call, kind);
      return check(call, kind, await look(call, kind, name));
    default:
      throw invalid(`unknown word: ${verb}`, usage);
  }
}

async function look(call: Call, kind: Kind, name: string | undefined): Promise<readonly Definition[]> {
  const { args, host } = call;
  const cwd = workingDirectory(args, host);
  const isPath = name !== undefined && /[/\\]|\.(ya?ml|md)$/.test(name);
  const wish = isPath
    ? { file: await fileAt(resolve(host.cwd, name), kind) }
    : name === undefined
      ? {}
      : { name };
  const client = await host.daemon.ensure();
  try {
    const given = agentsFlag(args);
    const agents = given === undefined ? {} : { agents: given };
    return (await client.request(`${kind}.check`, { cwd, ...agents, ...wish })).definitions;
  } finally {
    client.close();
  }
}

/** Files of a folder that is not trusted are not read; said, so that nobody takes them for checked. Always 0. */
async function tellUntrusted({ args, console, host }: Call, kind: Kind): Promise<number> {
  const client = await host.daemon.ensure();
  try {
    const dir = workingDirectory(args, host);
    const { items } = await client.request("trust.show", { dir, pending: true });
    const left = items.filter((each) => `${each.kind}s` === kind).length;
    if (left > 0)
      await console.errorLine(
        `${counted(left, "file")} of this folder not read, since you have not trusted ${left === 1 ? "it" : "them"}: see crux trust`,
      );
    return 0;
  } catch (error) {
    // a program that an agent runs may not ask
    if (codeOf(error) === "PERMISSION") return 0;
    throw error;
  } finally {
    client.close();
  }
}

/** `path` is the file, or the folder that contains it. */
async function fileAt(path: string, kind: Kind): Promise<{ path: string; text: string }> {
  const inside = join(path, kind === "agents" ? "agent.yaml" : "SKILL.md");
  for (const each of basename(path) === basename(inside) ? [path] : [inside, path]) {
    const text = await readFile(each, "utf8").catch(() => undefined);
    if (text !== undefined) return { path: each, text };
  }
  throw new Fault({ code: "NOT_FOUND", message: `cannot read ${path}` });
}

async function list({ console }: Call, kind: Kind, found: readonly Definition[]): Promise<void> {
  if (console.mode === "json") await console.data(found.map(({ text: _, ...each }) => each));
  else if (console.mode === "quiet") for (const { name } of found) await console.line(name);
  else await console.line(found.length === 0 ? "None." : definitionTable(kind, found, console.room));
}

async function show({ console }: Call, found: readonly Definition[]): Promise<number> {
  const [one, ...shadowed] = found;
  if (one === undefined) return 1;
  if (console.mode === "json") await console.data(one);
  else {
    if (console.mode !== "quiet") {
      await console.line(`# ${safeLine(one.path)}`);
      for (const { path } of shadowed) await console.line(`# shadowed: ${safeLine(path)}`);
    }
    await console.line(safeLines(one.text.trimEnd()));
    for (const { message } of one.issues) await console.errorLine(safeLine(message));
  }
  return 0;
}

/** Returns 1 if one of them cannot be loaded or has a part that is ignored. */
async function check({ console }: Call, kind: Kind, found: readonly Definition[]): Promise<number> {
  const issues = found.flatMap((each) => each.issues);
  const wrong = issues.filter(({ severity }) => severity !== "note");
  if (console.mode === "json") await console.data({ checked: found.length, issues });
  else for (const issue of console.mode === "quiet" ? wrong : issues) await console.line(lineOf(issue));
  if (console.isScreen)
    await console.line(
      `${found.length} ${found.length === 1 ? kind.slice(0, -1) : kind} checked, ${wrong.length} wrong`,
    );
  return wrong.length === 0 ? 0 : 1;
}

/** The severity is shown unless it is a warning, the usual case. */
function lineOf({ severity, message }: DefinitionIssue): string {
  return safeLine(severity === "warning" ? message : `${message} (${severity})`);
}
