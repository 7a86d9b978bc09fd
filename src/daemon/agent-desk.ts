/**
 * Loads and checks agents and skills: the shipped ones, the user's own, and those of a workspace that the user has
 * trusted.
 */
import { type AgentInfo, type AgentLine, type AgentSeeker, DEFAULT_AGENT } from "../abi/agent.ts";
import { WORKER } from "../abi/child.ts";
import { codeOf, Fault } from "../abi/errors.ts";
import { FORK } from "../abi/fork.ts";
import type { Definition } from "../abi/methods/definition.ts";
import type { Settings } from "../abi/settings/settings.ts";
import { DefinitionCache } from "../agent/definition/cache.ts";
import { agentIssues, checkAgents, checkSkills, skillFileIssues } from "../agent/definition/check.ts";
import type { AgentFiles } from "../agent/definition/files.ts";
import { withJsonAgents } from "../agent/definition/json-files.ts";
import { agentLines, makeAgentLoader } from "../agent/definition/loader.ts";
import type { DefinitionWish, ServerDeps } from "../wire/server/deps.ts";
import {
  type AgentPlaces,
  agentPlaces,
  GIVEN_AGENTS,
  settingsAgents,
  settingsAgentsDir,
} from "./agent-places.ts";
import { refuseUntrusted, trustedFiles, withOwn, withProject } from "./project.ts";
import { definitionFiles } from "./skills/definition-files.ts";
import { skillFolders } from "./skills/skill-folders.ts";
import { digestOf } from "./trust/inventory.ts";
import type { Trust } from "./trust/trust.ts";

interface AgentDeskOptions extends AgentPlaces {
  readonly trust: Pick<Trust, "viewOf">;
  /** Those that apply in a folder. */
  readonly settings: (cwd: string) => Settings;
  /** Names of all programs under /bin. */
  readonly tools: readonly string[];
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
}

interface AgentDesk {
  readonly load: ServerDeps["loadAgent"];
  /** The agents that a process may start, as its model is told of them. */
  lines(seeker: AgentSeeker): Promise<readonly AgentLine[]>;
  look(kind: "agents" | "skills", wish: DefinitionWish): Promise<readonly Definition[]>;
}

/** Agents that are kept, each with its stamps. An agent with MCP servers is not: its entries depend on the environment. */
const MAX_KEPT = 64;

export function agentDesk(options: AgentDeskOptions): AgentDesk {
  const { log, tools } = options;
  const files = definitionFiles;
  const mayKeep = ({ manifest }: AgentInfo) => manifest.mcp.length === 0;
  const cache = new DefinitionCache<AgentInfo>(files, { most: MAX_KEPT, mayKeep });
  const lists = new DefinitionCache<readonly AgentLine[]>(files, { most: MAX_KEPT });
  const load: AgentDesk["load"] = async (name, seeker) => {
    if (name === "none") return plainOf(seeker);
    const { cwd, env } = seeker;
    const found = placesOf(options, seeker, name !== undefined);
    const { view, dirs, places, brought } = found;
    const warn = (message: string) => log("warn", message);
    const childEnv = { ...env, CRUX_PROJECT_DIR: cwd };
    const load = (seen: AgentFiles) =>
      makeAgentLoader({
        ...dirs,
        env: childEnv,
        warn,
        dirs: places.map(({ dir }) => dir),
        files: found.filesOver(seen),
      }).load(name ?? DEFAULT_AGENT);
    try {
      const agent = ofSimple(await cache.load(`${found.key} ${name ?? ""}`, load), env);
      const whole = await withProject(agent, view, { env: childEnv, warn });
      const { ownServers } = seeker;
      return ownServers === undefined ? whole : withOwn(whole, ownServers, { env: childEnv, warn, cwd });
    } catch (error) {
      if (codeOf(error) === "NOT_FOUND") await refuseUntrusted(name ?? DEFAULT_AGENT, view, brought);
      throw error;
    }
  };
  return {
    load,
    lines: async (seeker) => {
      const { places, key, filesOver } = placesOf(options, seeker);
      const dirs = places.map(({ dir }) => dir);
      const found = await lists.load(key, (seen) => agentLines({ dirs, files: filesOver(seen) }));
      const forks = seeker.mayFork === true && options.settings(seeker.cwd).agents?.fork === true;
      const lines = forks ? [FORK_LINE, ...found] : found;
      if (seeker.givesWork !== true) return lines;
      const worker = await load(WORKER, seeker).catch(() => null);
      if (worker === null) return lines;
      const own = workerTools(worker, tools);
      return lines.map((line) => (line.name === WORKER ? { ...line, tools: own } : line));
    },
    look: async (kind, { cwd, name, file, agents = {} }) => {
      const env = process.env as Record<string, string>;
      const { dirs, places, filesOver } = placesOf(options, { cwd, env, agents });
      const known = { ...dirs, places, tools, files: filesOver(files), env };
      if (file === undefined) return kind === "agents" ? checkAgents(known, name) : checkSkills(known, name);
      const { path, text } = file;
      const issues =
        kind === "agents" ? await agentIssues(path, text, known) : skillFileIssues(path, text, known);
      const unknown = { source: "", shadowedBy: "", text: "", model: "", description: "" };
      return [{ name: path, path, ...unknown, issues: [...issues] }];
    },
  };
}

const FORK_LINE: AgentLine = {
  name: FORK,
  description:
    "yourself, with all you know by now; prompt says what it is to do. Used unless another is named",
};

/** The tools of a worker where `CRUX_SIMPLE` is set: no other. */
const SIMPLE_TOOLS = ["bash", "view", "edit"];

function ofSimple(agent: AgentInfo, { CRUX_SIMPLE }: AgentSeeker["env"]): AgentInfo {
  const { manifest } = agent;
  if (CRUX_SIMPLE !== "1" || manifest.name !== WORKER) return agent;
  return { ...agent, manifest: { ...manifest, tools: SIMPLE_TOOLS } };
}

/** No worker has them: they are for the one that leads. */
const LEADING: ReadonlySet<string> = new Set(["team_create", "team_delete"]);

/** `all`: the programs under /bin. */
function workerTools({ manifest }: AgentInfo, all: readonly string[]): readonly string[] {
  const { tools, disallowedTools = [], mcp } = manifest;
  const own = (tools ?? all).filter((name) => !disallowedTools.includes(name) && !LEADING.has(name));
  return [...own, ...mcp.map(({ name }) => `mcp__${name}`)];
}

/** INVALID: MCP servers are given, but plain reasoning has no tools. */
function plainOf({ ownServers }: AgentSeeker): null {
  if (Object.keys(ownServers?.entries ?? {}).length === 0) return null;
  throw new Fault({
    code: "INVALID",
    message: "without an agent there are no tools: leave its MCP servers out",
  });
}

/** `isNamed`: false where nobody chose an agent; then the shipped one is found even if the shipped ones are off. */
function placesOf(options: AgentDeskOptions, { cwd, env, agents: given = {} }: AgentSeeker, isNamed = true) {
  const view = options.trust.viewOf(cwd);
  const settings = options.settings(cwd);
  const { all, brought } = agentPlaces(options, view, cwd);
  const isOff = settings.agents?.builtins === false || env.CRUX_DISABLE_BUILTIN_AGENTS === "1";
  const places = isOff && isNamed ? all.filter(({ source }) => source !== "bundled") : all;
  const folders = skillFolders(options, view, cwd);
  const ofProject = folders.filter(({ source }) => source === "other" || source === "project");
  const maps = new Map([
    [GIVEN_AGENTS, given],
    [settingsAgentsDir(options), settingsAgents(settings)],
  ]);
  const trusted = [...brought, ...ofProject.map(({ dir }) => dir)];
  return {
    ...{ view, places, brought },
    /** Of what is found, for a cache. */
    key: `${view.isTrusted ? view.key : ""} ${digestOf(JSON.stringify([places, [...maps.values()]]))}`,
    filesOver: (files: AgentFiles) => withJsonAgents(trustedFiles(files, view, trusted), maps),
    dirs: {
      skillDirs: folders.flatMap(({ kind, dir }) => (kind === "skills" ? [dir] : [])),
      skillFolders: folders,
    },
  };
}
