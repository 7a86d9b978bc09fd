/** The MCP servers that a process can see, and their tools, both read from files. */
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import { callNames } from "../../lib/mcp-names.ts";
import { readTextFile } from "../program/read-file.ts";
import type { Entry } from "./entry.ts";

export interface SeenServer {
  /** The name that models and permission rules use. */
  readonly name: string;
  /** The path where it is mounted. */
  readonly path: string;
  /** Its tools can be listed without starting it. */
  readonly isConnected: boolean;
  /** The agent file of the process names it. */
  readonly isOwn: boolean;
  /** Its tools are sent with every request. */
  readonly alwaysLoad: boolean;
}

/**
 * The servers of the agent file, in their order, then others by path: of the process itself, its ancestors, the user.
 */
export async function seenServers(sys: Sys, mounts: ProgramStart["mounts"]): Promise<readonly SeenServer[]> {
  const own = mounts.map(({ name, path, alwaysLoad = false }) => ({
    name,
    path,
    isConnected: true,
    isOwn: true,
    alwaysLoad,
  }));
  const paths = new Set(own.map(({ path }) => path));
  return [...own, ...(await listed(sys)).filter(({ path }) => !paths.has(path))];
}

async function listed(sys: Sys): Promise<readonly SeenServer[]> {
  const rows = JSON.parse(await readTextFile(sys, "/proc/self/servers")) as readonly {
    name: string;
    path: string;
    state: string;
  }[];
  return rows.map(({ name, path, state }) => ({
    name,
    path,
    isConnected: state === "connected",
    isOwn: false,
    alwaysLoad: false,
  }));
}

/** The tools of a server, sorted by name; empty, with a warning, if the server does not answer. */
export async function toolsOf(sys: Sys, server: SeenServer): Promise<readonly Entry[]> {
  try {
    const tools = JSON.parse(await readTextFile(sys, `${server.path}/tools`)) as readonly Listed[];
    const names = callNames(server.name, tools);
    return tools.map((tool) => entryOf(server, tool, names.get(tool.name) ?? "")).sort(byName);
  } catch (error) {
    sys.ending.throwIfAborted();
    if (codeOf(error) === "CANCELLED") throw error;
    sys.log("warn", `MCP server ${server.name}: its tools are not offered: ${messageOf(error)}`);
    return [];
  }
}

/** A tool as `tools/list` returns it. */
interface Listed {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: { readonly readOnlyHint?: unknown };
}

function entryOf({ name: server, path }: SeenServer, tool: Listed, name: string): Entry {
  return {
    name,
    description: tool.description || (tool.title ?? ""),
    inputSchema: { type: "object", ...tool.inputSchema },
    path: `${path}/tools/${encodeURIComponent(tool.name)}`,
    parallel: tool.annotations?.readOnlyHint === true,
    hint: "",
    server,
  };
}

const byName = (a: Entry, b: Entry): number => (a.name < b.name ? -1 : 1);
