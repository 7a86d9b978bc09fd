/**
 * Finds problems in agent and skill files, each reported with file, line and the nearest valid name: unreadable
 * settings, unknown keys, tools and skills. Checks all of them, or one; loads and starts nothing.
 */
import type { AgentManifest } from "../../abi/agent.ts";
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { Definition, DefinitionIssue } from "../../abi/methods/definition.ts";
import { canonicalToolName } from "../../abi/tool.ts";
import { nearNames } from "../../lib/near-names.ts";
import { parseFrontMatter } from "./front-matter.ts";
import { type AgentSource, findAgent, type LoaderOptions, listAgents } from "./loader.ts";
import { manifestOf, UNUSED_KEYS } from "./manifest.ts";
import { allowedTools, findSkill, listSkills, parseSkill } from "./skill.ts";
import { parseYaml, type YamlFields } from "./yaml-fields.ts";

export interface CheckOptions extends LoaderOptions {
  /** The names of all programs under /bin. */
  readonly tools: readonly string[];
}

/** Tools that are not listed under /bin. */
const LOOP_TOOLS = ["tool_search", "tool_call", "agent", "skill"];

/** All agents, sorted by name, or only the one called `name`; empty if it does not exist. */
export async function checkAgents(options: CheckOptions, name?: string): Promise<readonly Definition[]> {
  const { dirs, files } = options;
  const looks: Definition[] = [];
  for (const each of name === undefined ? await listAgents(dirs, files) : [name]) {
    const look = await agentIn(dirs.toReversed(), each, options);
    if (look !== undefined) looks.push(look);
  }
  return looks;
}

async function agentIn(
  dirs: readonly string[],
  name: string,
  options: CheckOptions,
): Promise<Definition | undefined> {
  for (const dir of dirs) {
    try {
      const found = await findAgent(options.files, dir, name);
      if (found !== undefined) return await lookAt(found, options);
    } catch (error) {
      return broken(name, `${dir}/${name}`, error);
    }
  }
  return undefined;
}

async function lookAt(found: AgentSource, options: CheckOptions): Promise<Definition> {
  const { entry, path } = found;
  const text = found.kind === "file" ? found.text : found.yaml;
  const issues = [...(await agentIssues(path, text, options))];
  if (found.kind === "folder") {
    const instructions = await options.files.readText(`${found.base}/instructions.md`).catch(() => undefined);
    if (instructions === undefined)
      issues.push({ severity: "error", message: `${path}: instructions.md not found beside it` });
  }
  return { name: entry, path, text, ...shown(path, text), issues };
}

/** `path` ends with `.md` if the settings are front matter above the instructions. */
export async function agentIssues(
  path: string,
  text: string,
  options: CheckOptions,
): Promise<readonly DefinitionIssue[]> {
  const issues: DefinitionIssue[] = [];
  const warn = (message: string): void => void issues.push({ severity: "warning", message });
  try {
    const fields = fieldsOf(path, text);
    const manifest = manifestOf(fields, path, warn, options.env);
    for (const key of fields.unread())
      if (UNUSED_KEYS.has(key))
        issues.push({ severity: "note", message: `${fields.at(key)}: ${key} does nothing in this version` });
    issues.push(...toolIssues(fields, options.tools), ...(await skillIssues(fields, manifest, options)));
  } catch (error) {
    issues.push({ severity: "error", message: messageOf(error) });
  }
  return issues;
}

function fieldsOf(path: string, text: string): YamlFields {
  return path.endsWith(".md") ? parseFrontMatter(path, text).fields : parseYaml(path, text);
}

function toolIssues(fields: YamlFields, known: readonly string[]): DefinitionIssue[] {
  const names = [...known, ...LOOP_TOOLS];
  return ["tools", "disallowed_tools"].flatMap((key) =>
    (fields.list(key) ?? []).flatMap((written) => {
      const name = canonicalToolName(written.replace(/\(.*$/s, ""));
      if (name === "*" || name.startsWith("mcp__") || names.includes(name)) return [];
      const message = `${fields.at(key, written)}: unknown tool '${written}'${near(name, names)}`;
      return { severity: "warning" as const, message };
    }),
  );
}

async function skillIssues(
  fields: YamlFields,
  { skills }: AgentManifest,
  { skillDirs, files }: CheckOptions,
): Promise<DefinitionIssue[]> {
  const issues: DefinitionIssue[] = [];
  for (const name of skills) {
    try {
      const { path, text } = await findSkill(skillDirs, files, name);
      parseSkill(text, path);
    } catch (error) {
      const isMissing = codeOf(error) === "NOT_FOUND";
      const what = isMissing
        ? `unknown skill '${name}'${near(name, await listSkills(skillDirs, files))}`
        : `skill ${name}: ${messageOf(error)}`;
      issues.push({ severity: "error", message: `${fields.at("skills", name)}: ${what}` });
    }
  }
  return issues;
}

/** All skills, sorted by name, or only the one called `name`; empty if it does not exist. */
export async function checkSkills(options: CheckOptions, name?: string): Promise<readonly Definition[]> {
  const { skillDirs, files } = options;
  const looks: Definition[] = [];
  for (const each of name === undefined ? await listSkills(skillDirs, files) : [name]) {
    try {
      const { path, text } = await findSkill(skillDirs, files, each);
      looks.push({
        name: each,
        path,
        text,
        ...shown(path, text),
        issues: skillFileIssues(path, text, options),
      });
    } catch (error) {
      if (name !== undefined && codeOf(error) === "NOT_FOUND") return [];
      looks.push(broken(each, each, error));
    }
  }
  return looks;
}

const SKILL_KEYS = new Set([
  "license",
  "compatibility",
  "version",
  "model",
  "user_invocable",
  "argument_hint",
]);

export function skillFileIssues(
  path: string,
  text: string,
  { tools }: Pick<CheckOptions, "tools">,
): DefinitionIssue[] {
  try {
    const { manifest } = parseSkill(text, path);
    const { fields } = parseFrontMatter(path, text);
    const names = [...tools, ...LOOP_TOOLS];
    const unknown = (allowedTools(manifest) ?? []).flatMap((written) => {
      const name = canonicalToolName(written.replace(/\(.*$/s, ""));
      const isKnown = name === "*" || /^(\/|mcp__)/.test(name) || names.includes(name);
      return isKnown ? [] : `${fields.at("allowed_tools")}: unknown tool '${written}'${near(name, names)}`;
    });
    return [...unknownKeys(fields), ...unknown].map((message) => ({ severity: "warning" as const, message }));
  } catch (error) {
    return [{ severity: "error", message: messageOf(error) }];
  }
}

function unknownKeys(fields: YamlFields): string[] {
  fields.text("name");
  fields.text("description");
  fields.words("allowed_tools");
  fields.texts("metadata");
  return fields.unknown("", SKILL_KEYS);
}

/** The description and model, or "" where the file cannot be parsed. */
function shown(path: string, text: string): Pick<Definition, "description" | "model"> {
  try {
    const fields = fieldsOf(path, text);
    return {
      description: fields.text("description"),
      model: fields.map("models").text("preferred") || fields.text("model"),
    };
  } catch {
    return { description: "", model: "" };
  }
}

function broken(name: string, path: string, error: unknown): Definition {
  const issues = [{ severity: "error" as const, message: messageOf(error) }];
  return { name, path, text: "", description: "", model: "", issues };
}

function near(name: string, names: readonly string[]): string {
  const [first] = nearNames(name, names, (known) => Math.ceil(known.length / 3));
  return first === undefined ? "" : ` (did you mean ${first}?)`;
}
