/**
 * Loads and checks agents and skills: the shipped ones, the user's own, and those of a workspace that the user has
 * trusted.
 */
import { statSync } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_AGENT } from "../abi/agent.ts";
import { codeOf } from "../abi/errors.ts";
import type { Definition } from "../abi/methods/definition.ts";
import { AgentCache } from "../agent/definition/cache.ts";
import { agentIssues, checkAgents, checkSkills, skillFileIssues } from "../agent/definition/check.ts";
import type { AgentFiles } from "../agent/definition/files.ts";
import { makeAgentLoader } from "../agent/definition/loader.ts";
import { isWithin } from "../lib/path.ts";
import type { DefinitionWish, ServerDeps } from "../wire/server/deps.ts";
import { type ProjectDirs, projectDirs, refuseUntrusted, trustedFiles, withProject } from "./project.ts";
import type { Trust } from "./trust.ts";

interface AgentDeskOptions {
  readonly home: string;
  readonly configDir: string;
  /** The directory of what is shipped. */
  readonly lib: string;
  readonly trust: Trust;
  /** Names of all programs under /bin. */
  readonly tools: readonly string[];
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
}

interface AgentDesk {
  readonly load: ServerDeps["loadAgent"];
  look(kind: "agents" | "skills", wish: DefinitionWish): Promise<readonly Definition[]>;
}

export function agentDesk(options: AgentDeskOptions): AgentDesk {
  const { log, tools } = options;
  const files = {
    readText: (path: string) => readFile(path, "utf8"),
    list: (dir: string) => readdir(dir),
    realPath: (path: string) => realpath(path),
    stamp: stampOf,
  };
  const cache = new AgentCache(files);
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
      return [{ name: path, path, text: "", model: "", description: "", issues: [...issues] }];
    },
  };
}

function placesOf({ home, configDir, lib, trust }: AgentDeskOptions, cwd: string) {
  const view = trust.viewOf(cwd);
  const isHome = isWithin(view.root, home);
  const agents = projectDirs(view.root, "agents", isHome);
  const skills = projectDirs(view.root, "skills", isHome);
  const from = (kind: "agents" | "skills", { low, high }: ProjectDirs) =>
    view.isTrusted
      ? [...low, join(lib, kind), join(configDir, kind), ...high]
      : [join(lib, kind), join(configDir, kind)];
  const brought = [...agents.low, ...agents.high, ...skills.low, ...skills.high];
  return { view, agents, brought, dirs: { dirs: from("agents", agents), skillDirs: from("skills", skills) } };
}

/** A stamp that changes when the file does; "" if it does not exist or cannot be inspected. */
function stampOf(path: string): string {
  try {
    const { ino, mtimeNs, ctimeNs, size } = statSync(path, { bigint: true });
    return `${ino} ${mtimeNs} ${ctimeNs} ${size}`;
  } catch {
    return "";
  }
}
