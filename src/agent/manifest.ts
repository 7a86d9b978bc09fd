/** agent.yaml: the settings of an agent. */
import type { AgentManifest, AgentModels } from "../abi/agent.ts";
import { canonicalToolName } from "../abi/tool.ts";
import { DEFAULT_TOOLS } from "./tools.ts";
import { parseYaml, type YamlFields } from "./yaml-fields.ts";

const FILE = "agent.yaml";
/** Known, and for what is not there yet. */
const NOT_YET = new Set(["mcp", "mcp_servers"]);

/** `warn` hears of keys that do nothing. Throws INVALID with the line or the key. */
export function parseManifest(text: string, warn: (message: string) => void): AgentManifest {
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
    mcp: [],
  };
  for (const key of fields.unread())
    warn(
      `${FILE}: ${key} ${NOT_YET.has(key) ? "is not supported yet and is ignored" : "is unknown and is ignored"}`,
    );
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
