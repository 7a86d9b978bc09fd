/**
 * Finds problems in agent and skill files, each reported with file, line and the nearest valid name: unreadable
 * settings, unknown keys, tools and skills. Checks all of them, or one; loads and starts nothing.
 */
import { basename, dirname } from "node:path/posix";
import type { AgentManifest } from "../../abi/agent.ts";
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { Definition, DefinitionIssue } from "../../abi/methods/definition.ts";
import { canonicalToolName } from "../../abi/tool.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import { catalogueOf, type SkillFolder } from "./catalogue.ts";
import { parseFrontMatter } from "./front-matter.ts";
import {
  type AgentPlace,
  type AgentSource,
  describe,
  findFile,
  findFolder,
  type LoaderOptions,
  namesIn,
} from "./loader.ts";
import { manifestOf, UNUSED_KEYS, yamlSettings } from "./manifest.ts";
import { findSkill, listSkills, parseSkill } from "./skill.ts";
import { hasSettings, parseSkillFile } from "./skill-file.ts";
import { parseYaml, type YamlFields } from "./yaml-fields.ts";

export interface CheckOptions extends Omit<LoaderOptions, "dirs"> {
  /** Where agents are, lowest precedence first. */
  readonly places: readonly AgentPlace[];
  /** Folders of skills and commands, lowest precedence first. */
  readonly skillFolders: readonly SkillFolder[];
  /** The names of all programs under /bin. */
  readonly tools: readonly string[];
}

/** Tools that are not listed under /bin. */
const LOOP_TOOLS = ["tool_search", "tool_call", "agent", "skill"];

/**
 * All agents by name, or only those called `name`: the one that counts first, then those that it shadows. Empty if there
 * are none.
 */
export async function checkAgents(options: CheckOptions, name?: string): Promise<readonly Definition[]> {
  /** From the lower-case name to the definitions, the strongest first. */
  const byName = new Map<string, Definition[]>();
  for (const place of options.places.toReversed()) {
    for (const each of await namesIn(place.dir, options.files)) {
      const key = each.toLowerCase();
      if (name !== undefined && key !== name.toLowerCase()) continue;
      const above = byName.get(key) ?? [];
      for (const look of await looksAt(place, each, options))
        above.push({ ...look, shadowedBy: above[0]?.path ?? "" });
      if (above.length > 0) byName.set(key, above);
    }
  }
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, looks]) => looks);
}

/** A folder and a file of one name in one place: the folder counts. */
async function looksAt(
  { dir, source }: AgentPlace,
  name: string,
  options: CheckOptions,
): Promise<readonly Definition[]> {
  const looks: Definition[] = [];
  for (const find of [findFolder, findFile]) {
    try {
      const found = await find(options.files, dir, name);
      if (found !== undefined) looks.push({ ...(await lookAt(found, options)), source });
    } catch (error) {
      looks.push({ ...broken(name, `${dir}/${name}`, error), source });
    }
  }
  return looks;
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
  const description = await describe(found, options.files).catch(() => "");
  return {
    name: entry,
    path,
    source: "",
    shadowedBy: "",
    text,
    description,
    model: modelIn(path, text),
    issues,
  };
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
    const { fields, notes, body } = settingsOf(path, text);
    const manifest = manifestOf(fields, path, warn, options.env);
    for (const key of fields.unread())
      if (UNUSED_KEYS.has(key))
        issues.push({ severity: "note", message: `${fields.at(key)}: ${key} does nothing in this version` });
    issues.push(...notes.map((message) => ({ severity: "note" as const, message })));
    for (const message of whatIsMissing(path, manifest, { fields, body })) warn(message);
    issues.push(...toolIssues(fields, options.tools), ...(await skillIssues(fields, manifest, options)));
  } catch (error) {
    issues.push({ severity: "error", message: messageOf(error) });
  }
  return issues;
}

function settingsOf(path: string, text: string): ReturnType<typeof parseFrontMatter> {
  if (path.endsWith(".md")) return parseFrontMatter(path, text);
  // its description may be the first line of its instructions, which are a file of their own
  return { fields: yamlSettings(path, text), notes: [], body: "-" };
}

/** What keeps an agent that loads from being found, chosen or used as its file means it. */
function whatIsMissing(
  path: string,
  { name, description, models }: AgentManifest,
  { fields, body }: { readonly fields: YamlFields; readonly body: string },
): readonly string[] {
  const isFile = path.endsWith(".md");
  const entry = isFile ? basename(path, ".md") : basename(dirname(path));
  return [
    ...(name.toLowerCase() === entry.toLowerCase() || entry === ""
      ? []
      : [`${fields.at("name")}: it calls itself ${name}; it is found as ${entry}`]),
    ...(isFile && description === ""
      ? [`${path}: it has no description, so no model is told when to use it`]
      : []),
    ...(body === "" ? [`${path}: it has no instructions below its settings`] : []),
    ...(/^inherit$/i.test(models.preferred ?? "") && models.preferred !== "inherit"
      ? [`${fields.at("model")}: no model is called ${models.preferred} (did you mean inherit?)`]
      : []),
  ];
}

function toolIssues(fields: YamlFields, known: readonly string[]): DefinitionIssue[] {
  const names = [...known, ...LOOP_TOOLS];
  return ["tools", "disallowed_tools"].flatMap((key) =>
    (fields.list(key) ?? []).flatMap((written) => {
      const name = canonicalToolName(written.replace(/\(.*$/s, ""));
      // among the denied ones it is a rule
      if (key === "tools" && written.includes("("))
        return {
          ...{ severity: "warning" as const },
          message: `${fields.at(key, written)}: '${written}' gives no tool: name the tool alone; a rule belongs into the settings`,
        };
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

/** All skills and what calls itself one, by name, or only the one called `name`; empty if it does not exist. */
export async function checkSkills(options: CheckOptions, name?: string): Promise<readonly Definition[]> {
  const catalogue = await catalogueOf(options.skillFolders, options.files);
  const all = [
    ...catalogue.skills.map((skill) => ({ ...skill, problem: undefined })),
    ...catalogue.broken.map((skill) => ({ ...skill, file: undefined, shadowedBy: undefined })),
  ].filter((each) => name === undefined || each.name === name);
  const looks: Definition[] = [];
  for (const { name: called, source, path, isCommand, file, shadowedBy = "", problem } of all) {
    const text = await options.files.readText(path).catch(() => "");
    const issues: DefinitionIssue[] =
      problem === undefined
        ? skillFileIssues(path, text, { ...options, isCommand })
        : [{ severity: "error", message: problem }];
    const { description = "" } = file ?? {};
    looks.push({ name: called, path, source, shadowedBy, text, model: "", description, issues });
  }
  return looks.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Read by Crux, or only shown. */
const SKILL_KEYS: ReadonlySet<string> = new Set(
  `name description when_to_use allowed_tools metadata license compatibility version argument_hint arguments
  user_invocable disable_model_invocation paths context`.split(/\s+/),
);
/** Keys of the format that have no effect yet. */
const UNUSED_SKILL_KEYS: ReadonlySet<string> = new Set(["model", "effort", "agent", "hooks", "shell"]);

export function skillFileIssues(
  path: string,
  text: string,
  {
    tools,
    isCommand = !/(?:^|\/)SKILL\.md$/.test(path),
  }: Pick<CheckOptions, "tools"> & { isCommand?: boolean },
): DefinitionIssue[] {
  try {
    const entry = path.split("/").at(isCommand ? -1 : -2) ?? "";
    const { rules, fork } = parseSkillFile(text, { path, entry, isCommand });
    const { fields, notes: mended } = hasSettings(text)
      ? parseFrontMatter(path, text)
      : { fields: parseYaml(path, ""), notes: [] };
    const names = [...tools, ...LOOP_TOOLS];
    const unknown = rules.flatMap((written) => {
      const name = canonicalToolName(written.replace(/\(.*$/s, ""));
      const isKnown = name === "*" || name.startsWith("mcp__") || names.includes(name);
      return isKnown ? [] : `${fields.at("allowed_tools")}: unknown tool '${written}'${near(name, names)}`;
    });
    const name = fields.text("name");
    const other =
      isCommand || name === entry || !/\//.test(path)
        ? []
        : [`${fields.at("name")}: its folder is called ${entry}, and so is the skill`];
    const isRead = (key: string): boolean => fork !== null && (key === "agent" || key === "model");
    const idle = fields.unread().filter((key) => UNUSED_SKILL_KEYS.has(key) && !isRead(key));
    const notes = [...mended, ...idle.map((key) => `${fields.at(key)}: ${key} does nothing in this version`)];
    if (fork !== null && rules.length > 0)
      notes.push(
        `${fields.at("allowed_tools")}: rules are not given to a process of its own (context: fork)`,
      );
    return [
      ...[...unknownKeys(fields), ...other, ...unknown].map((message) => ({
        severity: "warning" as const,
        message,
      })),
      ...notes.map((message) => ({ severity: "note" as const, message })),
    ];
  } catch (error) {
    return [{ severity: "error", message: messageOf(error) }];
  }
}

function unknownKeys(fields: YamlFields): string[] {
  for (const key of ["name", "description", "when_to_use", "context"]) fields.text(key);
  fields.words("allowed_tools");
  fields.texts("metadata");
  return fields.unknown("", new Set([...SKILL_KEYS, ...UNUSED_SKILL_KEYS]));
}

/** "" where the file cannot be parsed. */
function modelIn(path: string, text: string): string {
  try {
    const { fields } = settingsOf(path, text);
    return fields.map("models").text("preferred") || fields.text("model");
  } catch {
    return "";
  }
}

function broken(name: string, path: string, error: unknown): Definition {
  const issues = [{ severity: "error" as const, message: messageOf(error) }];
  return { name, path, source: "", shadowedBy: "", text: "", description: "", model: "", issues };
}

function near(name: string, names: readonly string[]): string {
  const [first] = nearNames(name, names, (known) => Math.ceil(known.length / 3));
  return first === undefined ? "" : ` (did you mean ${first}?)`;
}
