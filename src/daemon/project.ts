/**
 * What a trusted workspace adds to its agents: agent and skill files, servers of `.mcp.json`. Each file
 * is used only as the user has seen it: the content that was read is compared, so that nothing can change in between.
 * What the client of a run adds comes before it.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AgentInfo, OwnServers } from "../abi/agent.ts";
import { Fault, messageOf } from "../abi/errors.ts";
import type { McpServer } from "../abi/mcp.ts";
import { MCP_FILE } from "../abi/trust.ts";
import type { AgentFiles } from "../agent/definition/files.ts";
import { type EntryContext, mcpServers } from "../agent/definition/mcp-entries.ts";
import { parseYaml } from "../agent/definition/yaml-fields.ts";
import { isWithin } from "../lib/path.ts";
import { digestOf, readBrought, serverEntries } from "./trust/inventory.ts";
import type { ProjectView } from "./trust/trust.ts";

/**
 * Files reached through the project's folders are visible only as far as they are trusted, wherever they really are.
 * Files reached through other folders are the user's own, even inside the workspace.
 */
export function trustedFiles(files: AgentFiles, view: ProjectView, dirs: readonly string[]): AgentFiles {
  const bases = new Set(dirs);
  const isBrought = (path: string) => [...bases].some((base) => isWithin(base, path));
  return {
    ...files,
    realPath: async (path) => {
      const real = await files.realPath(path);
      if (isBrought(path)) bases.add(real);
      return real;
    },
    readText: async (path) => {
      const text = await files.readText(path);
      if (!isBrought(path) || view.approves(path, digestOf(text))) return text;
      throw Object.assign(new Error(`not trusted: ${path}`), { code: "ENOENT" });
    },
  };
}

/** PERMISSION: the workspace has such an agent, but the user has not trusted it. */
export async function refuseUntrusted(
  name: string,
  { root }: ProjectView,
  dirs: readonly string[],
): Promise<void> {
  for (const dir of dirs) {
    const wanted = [name.toLowerCase(), `${name.toLowerCase()}.md`];
    const entries = await readdir(dir).catch(() => []);
    if (!entries.some((entry) => wanted.includes(entry.toLowerCase()))) continue;
    throw new Fault({
      code: "PERMISSION",
      message: `agent ${name} comes from ${dir}, which you have not trusted as it is`,
      fact: { kind: "untrusted", folder: root },
    });
  }
}

/**
 * The agent with what the workspace adds to every agent. Project servers may fail, and the agent's own server of the
 * same name wins.
 */
export async function withProject(
  agent: AgentInfo,
  view: ProjectView,
  context: EntryContext,
): Promise<AgentInfo> {
  if (!view.isTrusted) return agent;
  const taken = new Set(agent.manifest.mcp.map(({ name }) => name));
  const servers = (await projectServers(view, context)).filter(({ name }) => !taken.has(name));
  if (servers.length === 0) return agent;
  return { ...agent, manifest: { ...agent.manifest, mcp: [...agent.manifest.mcp, ...servers] } };
}

/** Names of servers that Crux brings itself. */
const RESERVED: ReadonlySet<string> = new Set(["crux", "crux-browser", "computer-use"]);

/**
 * The agent with the servers that a client gives one process. They may fail, and count before others of their names.
 * INVALID: an entry is not a valid server.
 */
export function withOwn(
  agent: AgentInfo,
  { entries, isStrict }: OwnServers,
  { cwd, ...context }: EntryContext & { readonly cwd: string },
): AgentInfo {
  const reserved = Object.keys(entries).find((name) => RESERVED.has(name));
  if (reserved !== undefined) {
    const message = `${reserved} is the name of an MCP server of Crux itself: choose another`;
    throw new Fault({ code: "INVALID", message });
  }
  const fields = parseYaml("MCP servers of the client", JSON.stringify({ mcpServers: entries }));
  const own = mcpServers(fields, context).map((server) => ({
    ...inRoot(server, cwd),
    isGiven: true as const,
  }));
  const others = isStrict ? [] : agent.manifest.mcp;
  const mcp = [...others.filter(({ name }) => own.every((server) => server.name !== name)), ...own];
  return { ...agent, manifest: { ...agent.manifest, mcp } };
}

async function projectServers(view: ProjectView, { env, warn }: EntryContext): Promise<readonly McpServer[]> {
  const path = join(view.root, MCP_FILE);
  const servers: McpServer[] = [];
  const context: EntryContext = { env, warn: (line) => warn(`${path}: ${line}`) };
  try {
    for (const [name, text] of serverEntries((await readBrought(path)).toString("utf8"))) {
      if (view.approves(`${MCP_FILE}#${name}`, digestOf(text)))
        servers.push(...serverOf(name, text, context).map((server) => inRoot(server, view.root)));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") warn(`${path}: ${messageOf(error)}`);
  }
  return servers;
}

/** Empty for an invalid entry, so that the others still count. */
function serverOf(name: string, text: string, context: EntryContext): readonly McpServer[] {
  try {
    const fields = parseYaml(
      MCP_FILE,
      JSON.stringify({ mcpServers: { [name]: JSON.parse(text) as unknown } }),
    );
    return mcpServers(fields, context);
  } catch (error) {
    context.warn(messageOf(error));
    return [];
  }
}

/** Makes the server optional, and its directory the root unless it names another. */
function inRoot(server: McpServer, root: string): McpServer {
  const { config } = server;
  const isPlaced = config.type !== "stdio" || config.cwd !== undefined;
  return { ...server, required: false, config: isPlaced ? config : { ...config, cwd: root } };
}
