/**
 * The rights of a supervised child's agent, as the journal keeps them. Its texts are read again from the agent file,
 * which may have changed: then the texts differ, but the rights do not grow.
 */
import { hash } from "node:crypto";
import type { AgentInfo, AgentManifest } from "../../abi/agent.ts";
import type { McpServer } from "../../abi/mcp.ts";
import { meet } from "../../kernel/process/rights/narrow.ts";
import { isWithin } from "../../lib/path.ts";

export interface KeptAgent {
  readonly allowedDevices: readonly string[] | null;
  readonly tools: readonly string[] | null;
  readonly disallowedTools: readonly string[];
  readonly memory?: AgentManifest["memory"];
  /** The servers' settings only as digests, as they may hold secrets. */
  readonly servers: readonly { readonly name: string; readonly digest: string }[];
}

export function keptAgent({ allowedDevices, manifest }: AgentInfo): KeptAgent {
  const { tools, disallowedTools = [], memory, mcp } = manifest;
  return {
    allowedDevices,
    tools,
    disallowedTools,
    ...(memory === undefined ? {} : { memory }),
    servers: mcp.map((server) => ({ name: server.name, digest: digestOf(server) })),
  };
}

/**
 * The agent as its file defines it now, with no more rights than it had. `isPersons`: the user started it, so changed
 * server settings are accepted; otherwise the servers must be those that were permitted.
 */
export function narrowedTo(info: AgentInfo, kept: KeptAgent, isPersons: boolean): AgentInfo {
  const { memory, ...manifest } = info.manifest;
  const disallowedTools = [...new Set([...kept.disallowedTools, ...(manifest.disallowedTools ?? [])])];
  return {
    ...info,
    allowedDevices: meet(kept.allowedDevices, info.allowedDevices, isWithin),
    manifest: {
      ...manifest,
      ...(memory === undefined || memory !== kept.memory ? {} : { memory }),
      tools: narrowedTools(kept.tools, manifest.tools),
      ...(disallowedTools.length === 0 ? {} : { disallowedTools }),
      mcp: manifest.mcp.filter((server) =>
        kept.servers.some(
          ({ name, digest }) => name === server.name && (isPersons || digest === digestOf(server)),
        ),
      ),
    },
  };
}

function narrowedTools(kept: KeptAgent["tools"], now: KeptAgent["tools"]): KeptAgent["tools"] {
  if (kept === null || now === null) return kept ?? now;
  return now.filter((tool) => kept.includes(tool));
}

function digestOf(server: McpServer): string {
  return hash("sha256", JSON.stringify(server));
}
