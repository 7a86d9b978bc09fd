/** Skills: instructions with the devices they need, in `<skill>/SKILL.md`. */
import type { Skill, SkillManifest } from "../../abi/agent.ts";
import { Fault } from "../../abi/errors.ts";
import { type AgentFiles, checkName, ifThere, isName, readInside } from "./files.ts";
import { parseFrontMatter } from "./front-matter.ts";

const FILE = "SKILL.md";
/** The skills read in one directory, and the skills named in one message. */
const MAX_SKILLS = 1_000;
const MAX_NAMED = 50;

interface SkillLoader {
  /** Only the front matter, as listings show it. */
  loadMetadata(name: string): Promise<SkillManifest>;
  /** The front matter and the body. */
  loadFull(name: string): Promise<Skill>;
}

/**
 * `dirs`: lowest precedence first. The folder of a skill may be a link; its SKILL.md must not lead out of the folder.
 */
export function makeSkillLoader(dirs: readonly string[], files: AgentFiles): SkillLoader {
  const loadFull = async (name: string) => parseSkill((await findSkill(dirs, files, name)).text);
  return { loadFull, loadMetadata: async (name) => (await loadFull(name)).manifest };
}

export function parseSkill(text: string, file = FILE): Skill {
  const { fields, body } = parseFrontMatter(file, text);
  const name = fields.text("name");
  if (name === "") throw fields.wrong("name", "is required");
  return {
    manifest: {
      name,
      description: fields.text("description") || firstParagraph(body),
      allowedTools: fields.words("allowed_tools"),
      metadata: fields.texts("metadata"),
    },
    body,
  };
}

/** The words of `allowed-tools`: split at spaces, and at commas outside parentheses. Null: no restriction. */
export function allowedTools(skill: SkillManifest): string[] | null {
  const words = skill.allowedTools.match(/(?:\([^)]*\)|[^\s,(])+/g);
  return words === null ? null : [...words];
}

/** The words of `allowed-tools` that are rules: those that name no device. */
export function ruleWords(allowed: string): string[] {
  const words = allowedTools({ name: "", description: "", allowedTools: allowed, metadata: {} }) ?? [];
  return words.filter((word) => !word.startsWith("/"));
}

/** The devices named by all skills together; null: no restriction, since no skill names a device. */
export function allowedDevices(skills: readonly Skill[]): string[] | null {
  const words = skills.flatMap((skill) => allowedTools(skill.manifest) ?? []);
  const devices = words.filter((word) => word.startsWith("/"));
  return devices.length === 0 ? null : [...new Set(devices)];
}

export function firstParagraph(body: string): string {
  const paragraph = body.split(/\n\s*\n/).find((text) => !text.startsWith("#") && text.trim() !== "");
  return paragraph?.replace(/\s+/g, " ").trim().slice(0, 1024) ?? "";
}

/** The text and path of a skill. NOT_FOUND: no such skill; the message names the existing ones. */
export async function findSkill(
  dirs: readonly string[],
  files: AgentFiles,
  name: string,
): Promise<{ readonly path: string; readonly text: string }> {
  checkName("skill", name);
  for (const dir of dirs.toReversed()) {
    const entry = await findEntry(files, dir, name);
    if (entry === undefined) continue;
    const base = await ifThere(files.realPath(`${dir}/${entry}`));
    const text = base && (await readInside(files, base, `${base}/${FILE}`, "skill"));
    if (text !== undefined) return { path: `${dir}/${entry}/${FILE}`, text };
  }
  const here = (await listSkills(dirs, files)).slice(0, MAX_NAMED).join(", ");
  throw new Fault({ code: "NOT_FOUND", message: `skill not found: ${name}. Skills here: ${here || "none"}` });
}

export async function listSkills(dirs: readonly string[], files: AgentFiles): Promise<string[]> {
  const names = new Set<string>();
  for (const dir of dirs) {
    for (const entry of ((await ifThere(files.list(dir))) ?? []).filter(isName).slice(0, MAX_SKILLS)) {
      if ((await ifThere(files.realPath(`${dir}/${entry}/${FILE}`))) !== undefined) names.add(entry);
    }
  }
  return [...names].sort();
}

/** The entry of the directory with this name: an exact match, else one that differs only in case. */
export async function findEntry(files: AgentFiles, dir: string, name: string): Promise<string | undefined> {
  const entries = (await ifThere(files.list(dir))) ?? [];
  if (entries.includes(name)) return name;
  return entries.find((entry) => entry.toLowerCase() === name.toLowerCase());
}
