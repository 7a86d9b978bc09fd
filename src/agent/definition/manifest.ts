/** agent.yaml: the settings of an agent. */
import type { AgentManifest, AgentModels } from "../../abi/agent.ts";
import { LABEL_SOURCES } from "../../abi/labels.ts";
import { EFFORTS, isEffort } from "../../abi/llm.ts";
import { AGENT_COLORS, findPermissionMode } from "../../abi/process.ts";
import { canonicalToolName } from "../../abi/tool.ts";
import { manifestBudget } from "./manifest-budget.ts";
import { mcpServers } from "./mcp-entries.ts";
import { parseYaml, type YamlFields } from "./yaml-fields.ts";

const FILE = "agent.yaml";

/**
 * `warn` is called for keys without effect; `env` provides the variables of MCP servers. Throws INVALID with the line
 * or key.
 */
export function parseManifest(
  text: string,
  warn: (message: string) => void,
  env: Readonly<Record<string, string>> = {},
  file = FILE,
): AgentManifest {
  return manifestOf(yamlSettings(file, text), file, warn, env);
}

/** The settings of a folder. INVALID: they cannot be parsed, or have a prompt, which belongs into its own file. */
export function yamlSettings(file: string, text: string): YamlFields {
  const fields = parseYaml(file, text);
  if (fields.has("prompt")) throw fields.wrong("prompt", "belongs into instructions.md beside it");
  return fields;
}

/** Keys of the format without effect in Crux: reported by a check, not each time the file is loaded. */
export const UNUSED_KEYS: ReadonlySet<string> = new Set(["hooks"]);

/** `file` is the name used in warnings. */
export function manifestOf(
  fields: YamlFields,
  file: string,
  warn: (message: string) => void,
  env: Readonly<Record<string, string>> = {},
): AgentManifest {
  const name = fields.text("name");
  if (name === "") throw fields.wrong("name", "is required");
  const manifest: AgentManifest = {
    name,
    description: fields.text("description"),
    models: models(fields, warn),
    ...effort(fields),
    ...manifestBudget(fields, warn),
    maxSteps: maxSteps(fields),
    skills: fields.list("skills") ?? [],
    ...initialPrompt(fields),
    ...pins(fields),
    ...(fields.flag("preload") === true ? { preload: true } : {}),
    ...(fields.flag("background") === true ? { background: true } : {}),
    ...isolation(fields, warn),
    tools: tools(fields),
    ...disallowed(fields),
    ...delegation(fields),
    ...memory(fields, warn),
    ...mode(fields, warn),
    ...outward(fields),
    ...color(fields, warn),
    mcp: mcpServers(fields, { env, warn: (message) => warn(`${file}: ${message}`) }),
    ...requiredServers(fields),
  };
  for (const message of fields.unknown("", UNUSED_KEYS)) warn(message);
  return manifest;
}

/** The version is for people alone, who see it in the file. */
function initialPrompt(fields: YamlFields): Pick<AgentManifest, "initialPrompt"> {
  fields.text("version");
  const text = fields.text("initial_prompt").trim();
  return text === "" ? {} : { initialPrompt: text };
}

function pins(fields: YamlFields): Pick<AgentManifest, "pins"> {
  const texts = fields.sequence("pins");
  return texts.length === 0 ? {} : { pins: texts };
}

function models(fields: YamlFields, warn: (message: string) => void): AgentModels {
  const models = fields.map("models");
  const said = models.text("preferred") || fields.text("model");
  const preferred = said === "inherit" ? "" : said;
  const provider = models.text("provider");
  const fallback = (models.list("fallback") ?? []).filter((name) => name !== "");
  for (const message of models.unknown("models.")) warn(message);
  return {
    ...(provider !== "" && { provider }),
    ...(preferred !== "" && { preferred }),
    ...(fallback.length > 0 && { fallback }),
  };
}

/** A level, or the most tokens for thinking. */
function effort(fields: YamlFields): Pick<AgentManifest, "effort"> {
  const text = fields.text("effort");
  if (text === "") return {};
  if (isEffort(text)) return { effort: text };
  if (!/^\d+$/.test(text)) throw fields.wrong("effort", `takes ${EFFORTS.join(", ")}, or a number of tokens`);
  const tokens = Number(text);
  if (tokens < 1_024 || tokens > 1_000_000) throw fields.wrong("effort", "takes 1024 to 1000000 tokens");
  return { effort: tokens };
}

/** `max_turns` is the name of `max_steps` in agent files published for other programs. */
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
  if (listed === undefined || listed.includes("*")) return null;
  const denied = new Set(fields.list("disallowed_tools")?.map(canonicalToolName));
  return listed.map(canonicalToolName).filter((name) => !denied.has(name));
}

/** The tools to remove from those that are mounted. */
function disallowed(fields: YamlFields): Pick<AgentManifest, "disallowedTools"> {
  const names = (fields.list("disallowed_tools") ?? []).map(canonicalToolName);
  return names.length === 0 ? {} : { disallowedTools: names };
}

function delegation(fields: YamlFields): Pick<AgentManifest, "delegate"> {
  return fields.text("delegate") === "true" ? { delegate: true } : {};
}

/** Another scope has no folder yet; the agent works without notes of its own then. */
function memory(fields: YamlFields, warn: (message: string) => void): Pick<AgentManifest, "memory"> {
  const scope = fields.text("memory");
  if (scope === "local" || scope === "user") return { memory: scope };
  if (scope !== "") warn(`${fields.at("memory")}: memory takes local or user; ${scope} has no effect`);
  return {};
}

function color(fields: YamlFields, warn: (message: string) => void): Pick<AgentManifest, "color"> {
  const name = fields.text("color");
  const found = AGENT_COLORS.find((each) => each === name);
  if (found !== undefined) return { color: found };
  if (name !== "")
    warn(`${fields.at("color")}: color takes ${AGENT_COLORS.join(", ")}; ${name} has no effect`);
  return {};
}

function isolation(fields: YamlFields, warn: (message: string) => void): Pick<AgentManifest, "isolation"> {
  const kind = fields.text("isolation");
  if (kind === "worktree") return { isolation: kind };
  if (kind !== "") warn(`${fields.at("isolation")}: isolation takes worktree; ${kind} has no effect`);
  return {};
}

function requiredServers(fields: YamlFields): Pick<AgentManifest, "requiredServers"> {
  const names = fields.list("required_mcp_servers") ?? [];
  return names.length === 0 ? {} : { requiredServers: names };
}

/** Used when the user starts the agent; a process that the agent starts gets no more than the agent has. */
function outward(fields: YamlFields): Pick<AgentManifest, "outward"> {
  const names = fields.list("outward");
  if (names === undefined) return {};
  return {
    outward: names.map((name) => {
      const source = LABEL_SOURCES.find((each) => each === name);
      if (source === undefined) throw fields.wrong("outward", `takes ${LABEL_SOURCES.join(", ")}`);
      return source;
    }),
  };
}

/** An unknown mode becomes `default`, which every file may request. */
function mode(fields: YamlFields, warn: (message: string) => void): Pick<AgentManifest, "permissionMode"> {
  const text = fields.text("permission_mode");
  if (text === "") return {};
  const known = findPermissionMode(text);
  if (known !== undefined) return { permissionMode: known };
  warn(`${fields.at("permission_mode")}: permission_mode: not a mode: ${text}; default is used`);
  return { permissionMode: "default" };
}
