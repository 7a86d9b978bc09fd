/**
 * `crux __complete -- <words…>`: called by shells while the user types. Prints one candidate per line, with a tab
 * before its meaning; `:file` and `:directory` leave the rest to the shell. Prints nothing on failure, starts no
 * daemon, and does not wait for a busy one.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PERMISSION_MODES, SIGNALS } from "../../../abi/process.ts";
import { SETTING_KEYS } from "../../../abi/settings/keys.ts";
import { configDir } from "../../../lib/paths.ts";
import { counted } from "../../../lib/text/counted.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { allProcesses } from "../../daemon/processes.ts";
import { proposalsFor } from "../../help/main.ts";
import type { Host } from "../../host/host.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

export const complete: Command = {
  flags: {},
  parse: (argv) => ({ flags: new Map(), values: new Map(), words: argv.filter((_, at) => at > 0) }),
  run,
};

const DAEMON_MS = 100;
const MAX_CANDIDATES = 500;
const MAX_MEANING = 80;
const SHIPPED_AGENTS = ["code-analyst", "general-purpose"] as const;
const TIERS = ["sonnet", "opus", "haiku"] as const;

type Found = ReadonlyArray<readonly [value: string, meaning: string]>;
type Lookup = (host: Host) => Found | Promise<Found>;

const LOOKUPS: Readonly<Record<string, Lookup>> = {
  "<pid>": (host) => fromDaemon(host, pids),
  "<group>": (host) => fromDaemon(host, groups),
  "<mount>": (host) => fromDaemon(host, mounts),
  "<mode>": () => PERMISSION_MODES.map((mode) => [mode, ""]),
  "<signal>": () => Object.keys(SIGNALS).map((name) => [name.slice(3).toLowerCase(), ""]),
  "<model>": () => TIERS.map((tier) => [tier, ""]),
  "<setting>": () => SETTING_KEYS.map((key) => [key, ""]),
  "<agent>": agents,
  "<file>": () => [[":file", ""]],
  "<directory>": () => [[":directory", ""]],
};

async function run({ args, console, host }: Call): Promise<number> {
  const { candidates, sources, prefix, before } = proposalsFor(args.words);
  const found: Found[] = [candidates.map(({ value, meaning }) => [value, meaning])];
  for (const source of sources) found.push(await lookUp(source, host));
  const lines = found
    .flat()
    .filter(([value]) => value.startsWith(":") || value.startsWith(prefix))
    .slice(0, MAX_CANDIDATES)
    .map(([value, meaning]) => lineOf(value.startsWith(":") ? value : before + value, meaning));
  if (lines.length > 0) await console.line(lines.join("\n"));
  return 0;
}

function lineOf(value: string, meaning: string): string {
  const text = [value, meaning].map((each) => safeLine(each).replaceAll("\t", " "));
  return meaning === "" ? `${text[0]}` : `${text[0]}\t${text[1]?.slice(0, MAX_MEANING)}`;
}

async function lookUp(source: string, host: Host): Promise<Found> {
  try {
    return (await LOOKUPS[source]?.(host)) ?? [];
  } catch {
    // errors must not disturb the user's typing
    return [];
  }
}

async function fromDaemon(
  host: Host,
  ask: (client: DaemonClient, signal: AbortSignal) => Promise<Found>,
): Promise<Found> {
  const signal = AbortSignal.timeout(DAEMON_MS);
  const client = await host.daemon.find(signal);
  if (client === undefined) return [];
  try {
    return await ask(client, signal);
  } finally {
    client.close();
  }
}

async function pids(client: DaemonClient, signal: AbortSignal): Promise<Found> {
  const processes = await allProcesses(client, "list_procs", signal);
  return processes
    .filter(({ kind }) => kind !== "service")
    .map(({ pid, intent, state }) => [String(pid), intent === "" ? state : intent]);
}

async function groups(client: DaemonClient, signal: AbortSignal): Promise<Found> {
  const found = await client.request("group.list", {}, signal);
  return found.groups.map(({ id, name, pids: members }) => [
    name === "" ? String(id) : name,
    counted(members.length, "process", "processes"),
  ]);
}

async function mounts(client: DaemonClient, signal: AbortSignal): Promise<Found> {
  const found = await client.request("mcp.list", {}, signal);
  return found.mounts.map(({ path, state }) => [path.replace("/mnt/mcp/", ""), state]);
}

/** The shipped agents, the user's, and those of this folder, trusted or not: only their names are used. */
function agents(host: Host): Found {
  const folders = [
    join(configDir(host.env, host.env.HOME ?? ""), "agents"),
    ...[".crux/agents", ".claude/agents"].map((folder) => join(host.cwd, folder)),
  ];
  const names = folders.flatMap(namesIn);
  return [...new Set([...SHIPPED_AGENTS, ...names])].map((name) => [name, ""]);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith("."))
      .map((name) => name.replace(/\.md$/, ""));
  } catch {
    return [];
  }
}
