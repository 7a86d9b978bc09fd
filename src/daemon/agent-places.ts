/** Where agents are looked for, from the weakest place to the strongest: a definition replaces all of a weaker one. */
import { join } from "node:path";
import type { AgentMap } from "../abi/agent.ts";
import type { Settings } from "../abi/settings/settings.ts";
import { AGENT_FOLDERS } from "../abi/trust.ts";
import type { AgentPlace } from "../agent/definition/loader.ts";
import { foldersBetween } from "../agent/instructions/collect.ts";
import { isWithin } from "../lib/path.ts";
import type { ProjectView } from "./trust/trust.ts";

export interface AgentPlaces {
  readonly home: string;
  readonly configDir: string;
  /** The directory of what is shipped. */
  readonly lib: string;
  /** The folder of the administrator's files. */
  readonly policyDir: string;
}

/** The agents of the command line, as a folder of their own. */
export const GIVEN_AGENTS = "--agents";

export function settingsAgentsDir({ configDir }: Pick<AgentPlaces, "configDir">): string {
  return `${join(configDir, "settings.json")}#agents`;
}

/** `brought`: those of the workspace, which count only as far as it is trusted. */
export function agentPlaces(
  places: AgentPlaces,
  view: Pick<ProjectView, "root" | "isTrusted">,
  cwd: string,
): { readonly all: readonly AgentPlace[]; readonly brought: readonly string[] } {
  const { home, configDir, lib, policyDir } = places;
  const project = projectPlaces(view.root, cwd, isWithin(view.root, home));
  const all: readonly AgentPlace[] = [
    { dir: join(lib, "agents"), source: "bundled" },
    { dir: join(home, ".claude/agents"), source: "user" },
    { dir: join(configDir, "agents"), source: "user" },
    { dir: settingsAgentsDir(places), source: "settings" },
    ...(view.isTrusted ? project : []),
    { dir: GIVEN_AGENTS, source: "command" },
    { dir: join(policyDir, "agents"), source: "policy" },
  ];
  return { all, brought: project.map(({ dir }) => dir) };
}

/** The folders of a workspace from its root down to `cwd`; a home directory contributes only Crux's own. */
function projectPlaces(root: string, cwd: string, isHome: boolean): readonly AgentPlace[] {
  const folders = foldersBetween(root, cwd);
  return AGENT_FOLDERS.flatMap((path) => {
    const isOwn = path.startsWith(".crux/");
    const source = isOwn ? ("project" as const) : ("other" as const);
    return isOwn || !isHome ? folders.map((folder) => ({ dir: join(folder, path), source })) : [];
  });
}

/** Keys beside the agents of the settings that hold more than one value. */
const NO_AGENTS: ReadonlySet<string> = new Set(["limits", "remote"]);

/** The agents among the keys of `agents`: an agent is an object with a prompt. */
export function settingsAgents({ agents = {} }: Settings): AgentMap {
  const isAgent = ([key, value]: [string, unknown]) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && !NO_AGENTS.has(key);
  return Object.fromEntries(Object.entries(agents).filter(isAgent)) as AgentMap;
}
