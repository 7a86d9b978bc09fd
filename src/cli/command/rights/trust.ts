import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Params } from "../../../abi/methods/methods.ts";
import type { WireWorkspace } from "../../../abi/methods/trust.ts";
import type { FlagTable } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { questionTerminal } from "../../dialog/questions.ts";
import { askTrust, hourOf, isGranted, seenOf } from "../../dialog/trust-question.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import { workspaceLines } from "../../screen/trust-lines.ts";
import { findComposeFile } from "../project/file.ts";

const USAGE = "crux trust [show|diff|list|remove] [dir]";
const FLAGS: FlagTable = { yes: { type: "boolean", short: "y" } };

/** Which folders may bring files that take effect: shown, trusted by the user, or revoked. */
export const trust: Command = { flags: FLAGS, run };

type Deed = (call: Call, client: DaemonClient, dir: string) => Promise<number>;

const DEEDS: Readonly<Record<string, Deed>> = {
  add,
  show: (call, client, dir) => show(call, client, placeOf(dir)),
  diff: (call, client, dir) => show(call, client, { ...placeOf(dir), diff: true }),
  list,
  remove,
};

async function run(call: Call): Promise<number> {
  const { args, host } = call;
  const [first = "", ...rest] = args.words;
  const isDeed = Object.hasOwn(DEEDS, first);
  const [dir, ...more] = isDeed ? rest : args.words;
  if (more.length > 0) throw invalid(`one folder at a time: ${args.words.join(" ")}`, USAGE);
  if (isDeed && first !== "add" && args.flags.has("yes"))
    throw invalid("--yes is for crux trust [dir]", USAGE);
  if (first === "list" && dir !== undefined) throw invalid(`unknown argument: ${dir}`, USAGE);
  const deed = isDeed ? DEEDS[first] : add;
  const client = await host.daemon.ensure();
  try {
    return (await deed?.(call, client, resolve(host.cwd, dir ?? "."))) ?? 1;
  } finally {
    client.close();
  }
}

/** A folder, with the compose file that would be used there; or such a file, in its folder. */
function placeOf(path: string): { dir: string; compose?: string } {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    return { dir: dirname(path), compose: path };
  const compose = findComposeFile(path);
  return compose === undefined ? { dir: path } : { dir: path, compose };
}

async function add(call: Call, client: DaemonClient, dir: string): Promise<number> {
  const { args, console } = call;
  const place = placeOf(dir);
  const workspace = await client.request("trust.show", { ...place, pending: true, diff: true });
  const isThere = workspace.trusted && workspace.items.length === 0;
  const terminal = args.flags.has("yes") || isThere ? undefined : questionTerminal(call);
  const answer = terminal === undefined ? "yes" : await askTrust(call, terminal, workspace);
  if (answer === "interrupted") return 130;
  if (!isGranted(answer)) return 1;
  const told = isThere
    ? { root: workspace.root, items: 0, session_only: workspace.session_only }
    : await client.request("trust.add", { ...place, seen: seenOf(workspace), ...hourOf(answer) });
  if (console.mode === "json")
    await console.data({ ...told, added: workspace.items.map(({ path }) => path) });
  else if (console.mode === "quiet") await console.line(safeLine(told.root));
  else await console.line(addedLines(workspace, { wasShown: terminal !== undefined, answer }).join("\n"));
  return 0;
}

/** If the items were not shown before the change, they are shown after it. */
function addedLines(
  workspace: WireWorkspace,
  { wasShown, answer }: { readonly wasShown: boolean; readonly answer: string },
): readonly string[] {
  const lines = workspaceLines({ ...workspace, trusted: true }, answer === "hour");
  if (wasShown) return [`[kernel] ${lines[0]}`];
  if (workspace.items.length > 0) return [`[kernel] ${lines[0]}`, ...lines.slice(1)];
  return [`[kernel] ${lines[0]}; nothing in it waits for you`];
}

async function show({ console }: Call, client: DaemonClient, asked: Params<"trust.show">): Promise<number> {
  const workspace = await client.request("trust.show", asked);
  if (console.mode === "json") await console.data(workspace);
  else if (console.mode === "quiet") await quietly(console, workspace.items);
  else await console.line(workspaceLines(workspace).join("\n"));
  return 0;
}

async function quietly(console: Call["console"], items: WireWorkspace["items"]): Promise<void> {
  if (items.length > 0) await console.line(items.map(({ path }) => safeLine(path)).join("\n"));
}

async function list({ console }: Call, client: DaemonClient): Promise<number> {
  const { workspaces } = await client.request("trust.list", {});
  if (console.mode === "json") await console.data({ workspaces });
  else if (console.mode === "quiet") {
    if (workspaces.length > 0) await console.line(workspaces.map(({ root }) => safeLine(root)).join("\n"));
  } else if (workspaces.length > 0)
    await console.line(
      workspaces
        .map(({ root, at, items, session_only }) => {
          const until = session_only ? ", until the last process there has ended" : "";
          return `${safeLine(root)}  since ${at}, ${items} ${items === 1 ? "item" : "items"}${until}`;
        })
        .join("\n"),
    );
  else if (console.isScreen) await console.line("No folder is trusted.");
  return 0;
}

async function remove({ console }: Call, client: DaemonClient, dir: string): Promise<number> {
  const { root, removed } = await client.request("trust.remove", { dir });
  if (console.mode === "json") await console.data({ root, removed });
  else if (console.mode === "quiet") await console.line(safeLine(root));
  else
    await console.line(`[kernel] ${safeLine(root)} ${removed ? "is trusted no longer" : "was not trusted"}`);
  return 0;
}
