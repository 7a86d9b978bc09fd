/** agent.yaml: the settings of an agent. */
import type { AgentManifest, AgentModels } from "../abi/agent.ts";
import { canonicalToolName } from "../abi/tool.ts";
import { mcpServers } from "./mcp-entries.ts";
import { DEFAULT_TOOLS } from "./tools.ts";
import { parseYaml, type YamlFields } from "./yaml-fields.ts";

const FILE = "agent.yaml";

/** `warn` hears of keys that do nothing; `env` fills in variables of servers. Throws INVALID with the line or the key. */
export function parseManifest(
  text: string,
  warn: (message: string) => void,
  env: Readonly<Record<string, string>> = {},
): AgentManifest {
  const fields = parseYaml(FILE, text);
  const name = fields.text("name");
  if (name === "") throw fields.wrong("name", "is required");
  const manifest: AgentManifest = {
    name,
    description: fields.text("description"),
    models: models(fields),
    contextBudget: Math.max(0, fields.int("context_budget") ?? 0),
    maxSteps: maxSteps(fields),
    skills: fields.list("skills") ?? [],
    tools: tools(fields),
    ...disallowed(fields),
    mcp: mcpServers(fields, { env, warn: (message) => warn(`${FILE}: ${message}`) }),
  };
  for (const key of fields.unread()) warn(`${FILE}: ${key} is unknown and is ignored`);
  return manifest;
}

function models(fields: YamlFields): AgentModels {
  const models = fields.map("models");
  const model = fields.text("model");
  const preferred = models.text("preferred") || (model === "inherit" ? "" : model);
  const provider = models.text("provider");
  const fallback = models.text("fallback");
  return {
    ...(provider !== "" && { provider }),
    ...(preferred !== "" && { preferred }),
    ...(fallback !== "" && { fallback }),
  };
}

/** `max_turns` is the name in published files of other makers. */
function maxSteps(fields: YamlFields): number {
  const key = fields.has("max_steps") ? "max_steps" : "max_turns";
  if (fields.has("max_steps") && fields.has("max_turns"))
    throw fields.wrong("max_steps", "and max_turns are the same: give one");
  const steps = fields.int(key);
  if (steps !== undefined && steps < 1) throw fields.wrong(key, "must be at least 1");
  return steps ?? 0;
}

function tools(fields: YamlFields): readonly string[] | null {
  const listed = fields.list("tools");
  const allowed = listed === undefined || listed.includes("*") ? null : listed.map(canonicalToolName);
  const denied = new Set(fields.list("disallowed_tools")?.map(canonicalToolName));
  if (denied.size === 0) return allowed;
  return (allowed ?? DEFAULT_TOOLS).filter((name) => !denied.has(name));
}

/** Those of servers are not among the tools that are named: they are taken away from what the servers have. */
function disallowed(fields: YamlFields): Pick<AgentManifest, "disallowedTools"> {
  const names = (fields.list("disallowed_tools") ?? []).filter((name) => name.startsWith("mcp__"));
  return names.length === 0 ? {} : { disallowedTools: names };
}
