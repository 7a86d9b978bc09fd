/** The tools of the MCP servers that an agent file names: sent with every request, each with the path of its file. */
import type { AgentInfo } from "../../abi/agent.ts";
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { ToolSpec } from "../../abi/llm.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import { readTextFile } from "./read-file.ts";

/** The limit for all servers together: all of these tools are sent with every request. */
export const MAX_MOUNTED_TOOLS = 128;

interface MountedTool {
  readonly spec: ToolSpec;
  readonly path: string;
  /** Whether its calls may run together with others. */
  readonly parallel: boolean;
}

/**
 * Ordered as the servers in the agent file, then by name. A server that does not answer is left out, with a warning.
 */
export async function mountedTools(sys: Sys, { mounts, agent }: ProgramStart): Promise<MountedTool[]> {
  const tools: MountedTool[] = [];
  for (const { name, path } of mounts) {
    try {
      tools.push(...(await toolsOf(sys, agent, path)));
    } catch (error) {
      sys.ending.throwIfAborted();
      if (codeOf(error) === "CANCELLED") throw error;
      sys.log("warn", `MCP server ${name}: its tools are not offered: ${messageOf(error)}`);
    }
  }
  if (tools.length > MAX_MOUNTED_TOOLS)
    sys.log("warn", `${tools.length} tools of MCP servers: the first ${MAX_MOUNTED_TOOLS} are offered`);
  return tools.slice(0, MAX_MOUNTED_TOOLS);
}

async function toolsOf(sys: Sys, agent: AgentInfo | null, mount: string): Promise<MountedTool[]> {
  const found: MountedTool[] = [];
  for (const name of await listNames(sys, mount)) {
    sys.ending.throwIfAborted();
    const path = `${mount}/tools/${encodeURIComponent(name)}`;
    const { tool } = await sys.stat(path);
    if (tool === undefined || !isOffered(agent, tool.name)) continue;
    const { description, inputSchema, parallel } = tool;
    found.push({ spec: { name: tool.name, description, inputSchema }, path, parallel });
  }
  return found.sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1));
}

async function listNames(sys: Sys, mount: string): Promise<string[]> {
  const tools = JSON.parse(await readTextFile(sys, `${mount}/tools`)) as readonly { name: string }[];
  return tools.map(({ name }) => name);
}

/** An allow-list that names MCP tools allows only these; one that names none allows all MCP tools. */
export function isOffered(agent: AgentInfo | null, name: string): boolean {
  const allowed = (agent?.manifest.tools ?? []).filter((each) => each.startsWith("mcp__"));
  const denied = agent?.manifest.disallowedTools ?? [];
  if (denied.some((each) => isServed(each, name))) return false;
  return allowed.length === 0 || allowed.some((each) => isServed(each, name));
}

/** `mcp__server`, `mcp__server__*`, `mcp__server__tool` */
export function isServed(pattern: string, name: string): boolean {
  const named = pattern.replace(/__\*$/, "");
  return name === named || name.startsWith(`${named}__`);
}
