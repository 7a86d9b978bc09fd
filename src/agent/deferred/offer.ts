/**
 * Chooses the tools sent with every request: a few programs, those that the agent file or a server entry lists, and the
 * two tools that find and call all others. Their bytes stay the same for the life of the process.
 */
import { noteTools } from "../../abi/agent.ts";
import type { ToolSpec } from "../../abi/llm.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import { canonicalToolName } from "../../abi/tool.ts";
import { isOffered, isServed } from "../program/mounted-tools.ts";
import { findProgram, namedPrograms } from "../program/programs.ts";
import { readTextFile } from "../program/read-file.ts";
import { DeferredTools } from "./deferred-tools.ts";
import type { Entry } from "./entry.ts";
import type { OfferedTools } from "./offered.ts";
import { type SeenServer, seenServers, toolsOf } from "./server-list.ts";
import { type DeferredSetting, deferredSetting } from "./setting.ts";
import { TOOL_CALL, TOOL_SEARCH } from "./specs.ts";

/** Sent unless an agent file says otherwise; missing ones are skipped. */
const CORE_TOOLS: readonly string[] = "agent ask_user bash edit glob grep ls skill todo view write".split(
  " ",
);

/** The limit for all servers together: each of these tools is sent with every request. */
const MAX_INLINE = 128;
/** The assumed context window of the model, in tokens. */
const WINDOW_TOKENS = 200_000;
const CHARS_PER_TOKEN = 4;

export async function offer(
  sys: Sys,
  start: ProgramStart,
  setting: DeferredSetting = deferredSetting({}),
): Promise<OfferedTools> {
  const found = await look(sys, start);
  const isSmall = await isWithinShare(sys, found, setting);
  return isSmall || setting.deferral.kind === "off" ? allInline(sys, found) : split(found, setting);
}

interface Offerable {
  readonly core: Awaited<ReturnType<typeof namedPrograms>>;
  /** The names of programs under /bin that are not sent. */
  readonly others: readonly string[];
  readonly mounts: ProgramStart["mounts"];
  readonly servers: Awaited<ReturnType<typeof seenServers>>;
  readonly entries: readonly Entry[];
  isInline(entry: Entry): boolean;
  isOffered(name: string): boolean;
  isSeen(server: SeenServer): boolean;
}

async function look(sys: Sys, { agent, mounts }: ProgramStart): Promise<Offerable> {
  const { tools: named = null, disallowedTools: denied = [] } = agent?.manifest ?? {};
  const isDenied = (name: string) => denied.some((each) => canonicalToolName(each) === name);
  const forNotes = agent === null ? [] : noteTools(agent.manifest);
  const core = await namedPrograms(
    sys,
    named === null ? null : [...named, ...forNotes],
    CORE_TOOLS.filter((name) => !isDenied(name)),
  );
  const names = named === null ? await programNames(sys) : [];
  // an agent file with a `tools` list sees only the servers that it names
  const isSeen = ({ isOwn, name }: SeenServer): boolean =>
    (named === null || isOwn) && !denied.some((each) => isServed(each, `mcp__${name}`));
  const servers = (await seenServers(sys, mounts)).filter(isSeen);
  const entries: Entry[] = [];
  for (const server of servers) if (server.isConnected) entries.push(...(await toolsOf(sys, server)));
  const listed = (named ?? []).filter((name) => name.startsWith("mcp__"));
  const always = new Set(servers.filter(({ alwaysLoad }) => alwaysLoad).map(({ name }) => name));
  const isAllowed = (name: string) => isOffered(agent, name);
  return {
    core,
    mounts,
    others: names.filter((name) => !CORE_TOOLS.includes(name) && !isDenied(name)),
    servers,
    entries: entries.filter(({ name }) => isAllowed(name)),
    isInline: ({ name, server }) => always.has(server) || listed.some((each) => isServed(each, name)),
    isOffered: isAllowed,
    isSeen,
  };
}

async function programNames(sys: Sys): Promise<readonly string[]> {
  return JSON.parse(await readTextFile(sys, "/bin")) as readonly string[];
}

/** With `auto`: whether the deferrable definitions are small enough to be sent with every request. */
async function isWithinShare(
  sys: Sys,
  { entries, others, isInline }: Offerable,
  { deferral }: DeferredSetting,
): Promise<boolean> {
  if (deferral.kind !== "auto") return false;
  const programs = await Promise.all(others.map((name) => findProgram(sys, name)));
  const specs = [...entries.filter((entry) => !isInline(entry)), ...programs.map((program) => program?.spec)];
  const chars = specs.reduce((sum, spec) => sum + sizeOf(spec), 0);
  return chars / CHARS_PER_TOKEN <= (WINDOW_TOKENS * deferral.percent) / 100;
}

function sizeOf(spec: ToolSpec | undefined): number {
  if (spec === undefined) return 0;
  const { name, description, inputSchema } = spec;
  return name.length + description.length + JSON.stringify(inputSchema).length;
}

function split(
  { core, others, mounts, servers, entries, ...found }: Offerable,
  setting: DeferredSetting,
): OfferedTools {
  const inline = bounded(entries.filter((entry) => found.isInline(entry)));
  const inlineNames = new Set(inline.map(({ name }) => name));
  const loaded = new Set([...core.keys(), ...inlineNames, TOOL_SEARCH.name, TOOL_CALL.name]);
  const rest = entries.filter(({ name }) => !inlineNames.has(name));
  const sent = assemble(core, inline);
  if (others.length === 0 && servers.every(({ alwaysLoad }) => alwaysLoad)) return sent;
  const { isOffered: isAllowed, isSeen } = found;
  const deferred = new DeferredTools({
    programs: others,
    mounts,
    servers,
    entries: rest,
    loaded,
    setting,
    isSeen,
    isOffered: (name) => isAllowed(name) && !inlineNames.has(name),
  });
  return { ...sent, specs: [...sent.specs, TOOL_SEARCH, TOOL_CALL], deferred };
}

async function allInline(sys: Sys, { core, others, entries }: Offerable): Promise<OfferedTools> {
  const all = new Map(core);
  for (const name of others) {
    const program = await findProgram(sys, name);
    if (program !== undefined) all.set(name, program);
  }
  return assemble(all, bounded(entries));
}

function bounded(entries: readonly Entry[]): readonly Entry[] {
  return entries.slice(0, MAX_INLINE);
}

function assemble(programs: Offerable["core"], entries: readonly Entry[]): OfferedTools {
  const own = [...programs].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    specs: [
      ...own.map(([, { spec }]) => spec),
      ...entries.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    ],
    parallel: new Map([
      ...own.map(([name, { parallel }]) => [name, parallel] as const),
      ...entries.map(({ name, parallel }) => [name, parallel] as const),
    ]),
    files: new Map(entries.map(({ name, path }) => [name, path])),
  };
}
