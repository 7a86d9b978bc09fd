/**
 * Loads and checks agents and skills: the shipped ones, the user's own, and those of a workspace that the user has
 * trusted.
 */
import { join } from "node:path";
import { type AgentInfo, type AgentLine, DEFAULT_AGENT } from "../abi/agent.ts";
import { codeOf } from "../abi/errors.ts";
import type { Definition } from "../abi/methods/definition.ts";
import { DefinitionCache } from "../agent/definition/cache.ts";
import { agentIssues, checkAgents, checkSkills, skillFileIssues } from "../agent/definition/check.ts";
import type { AgentFiles } from "../agent/definition/files.ts";
import { agentLines, makeAgentLoader } from "../agent/definition/loader.ts";
import { isWithin } from "../lib/path.ts";
import type { DefinitionWish, ServerDeps } from "../wire/server/deps.ts";
import { projectDirs, refuseUntrusted, trustedFiles, withProject } from "./project.ts";
import { definitionFiles } from "./skills/definition-files.ts";
import { skillFolders } from "./skills/skill-folders.ts";
import type { Trust } from "./trust/trust.ts";

interface AgentDeskOptions {
  readonly home: string;
  readonly configDir: string;
  /** The directory of what is shipped. */
  readonly lib: string;
  readonly trust: Trust;
  /** The folder of the administrator's files. */
  readonly policyDir: string;
  /** Names of all programs under /bin. */
  readonly tools: readonly string[];
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
}

interface AgentDesk {
  readonly load: ServerDeps["loadAgent"];
  /** The agents that a process in `cwd` may start, as its model is told of them. */
  lines(cwd: string): Promise<readonly AgentLine[]>;
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
  return {
    load: async (name = DEFAULT_AGENT, cwd, env) => {
      if (name === "none") return null;
      const { view, agents, dirs, brought } = placesOf(options, cwd);
      const warn = (message: string) => log("warn", message);
      const childEnv = { ...env, CRUX_PROJECT_DIR: cwd };
      const load = (seen: AgentFiles) =>
        makeAgentLoader({ ...dirs, env: childEnv, warn, files: trustedFiles(seen, view, brought) }).load(
          name,
        );
      try {
        const agent = await cache.load(view.isTrusted ? `${view.key} ${name}` : name, load);
        return await withProject(agent, view, { env: childEnv, warn });
      } catch (error) {
        if (codeOf(error) === "NOT_FOUND") await refuseUntrusted(name, view, [...agents.low, ...agents.high]);
        throw error;
      }
    },
    lines: (cwd) => {
      const { view, dirs, brought } = placesOf(options, cwd);
      return lists.load(view.isTrusted ? view.key : "", (seen) =>
        agentLines({ dirs: dirs.dirs, files: trustedFiles(seen, view, brought) }),
      );
    },
    look: async (kind, { cwd, name, file }) => {
      const { view, dirs, brought } = placesOf(options, cwd);
      const known = {
        ...dirs,
        tools,
        files: trustedFiles(files, view, brought),
        env: process.env as Record<string, string>,
      };
      if (file === undefined) return kind === "agents" ? checkAgents(known, name) : checkSkills(known, name);
      const { path, text } = file;
      const issues =
        kind === "agents" ? await agentIssues(path, text, known) : skillFileIssues(path, text, known);
      const unknown = { source: "", shadowedBy: "", text: "", model: "", description: "" };
      return [{ name: path, path, ...unknown, issues: [...issues] }];
    },
  };
}

function placesOf(options: AgentDeskOptions, cwd: string) {
  const { home, configDir, lib, trust } = options;
  const view = trust.viewOf(cwd);
  const agents = projectDirs(view.root, isWithin(view.root, home));
  const own = [join(lib, "agents"), join(configDir, "agents")];
  const folders = skillFolders(options, view, cwd);
  const ofProject = folders.filter(({ source }) => source === "other" || source === "project");
  return {
    view,
    agents,
    brought: [...agents.low, ...agents.high, ...ofProject.map(({ dir }) => dir)],
    dirs: {
      dirs: view.isTrusted ? [...agents.low, ...own, ...agents.high] : own,
      skillDirs: folders.flatMap(({ kind, dir }) => (kind === "skills" ? [dir] : [])),
      skillFolders: folders,
    },
  };
}
