/** Agents written as JSON, shown to the loader as folders of Markdown files that are not on the disk. */
import type { AgentMap } from "../../abi/agent.ts";
import { Fault } from "../../abi/errors.ts";
import type { AgentFiles } from "./files.ts";

/** `maps`: the agents of each such folder, by its path. */
export function withJsonAgents(files: AgentFiles, maps: ReadonlyMap<string, AgentMap>): AgentFiles {
  const dirOf = (path: string) => path.slice(0, path.lastIndexOf("/"));
  return {
    list: async (dir) =>
      Object.keys(maps.get(dir) ?? {})
        .map((name) => `${name}.md`)
        .concat(maps.has(dir) ? [] : await files.list(dir)),
    realPath: async (path) => (maps.has(path) || maps.has(dirOf(path)) ? path : files.realPath(path)),
    readText: async (path) => {
      const map = maps.get(dirOf(path));
      return map === undefined ? files.readText(path) : textOf(map, path);
    },
  };
}

/** JSON is YAML, so the settings are front matter; the key of the map is the name. */
function textOf(map: AgentMap, path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1, -".md".length);
  const { prompt, ...fields } = map[name] ?? {};
  if (typeof prompt !== "string" || prompt.trim() === "")
    throw new Fault({
      code: "INVALID",
      message: `${path}: prompt must be a text: the instructions of the agent`,
    });
  return `---\n${JSON.stringify({ ...fields, name })}\n---\n${prompt}`;
}
