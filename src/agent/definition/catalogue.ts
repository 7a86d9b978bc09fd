/**
 * All skills of a place: those of every source, each read once, with what shadows what and why a file is not one. A
 * name belongs to the source of highest precedence; the others stay reachable as `<source>:<name>`.
 */
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { SkillSource } from "../../abi/skill.ts";
import { type AgentFiles, ifThere, isName, readInside } from "./files.ts";
import { commandName, parseSkillFile, type SkillFile } from "./skill-file.ts";

/** A folder of skills. `commands`: single `.md` files count too, and their folders are part of their names. */
export interface SkillFolder {
  readonly dir: string;
  readonly source: SkillSource;
  readonly kind: "skills" | "commands";
}

/** Skills of all folders together, the highest precedence first; the rest is ignored. */
export const MAX_SKILLS = 1_000;
const MAX_COMMAND_DEPTH = 4;

interface Place {
  /** The name that a call uses. */
  readonly name: string;
  readonly source: SkillSource;
  /** The file, links not resolved. */
  readonly path: string;
  readonly isCommand: boolean;
}

export interface CataloguedSkill extends Place {
  /** The folder of the file, links resolved. */
  readonly dir: string;
  readonly file: SkillFile;
  /** The path of the skill that has its name; absent: it has the name itself. */
  readonly shadowedBy?: string;
}

/** A file that is not a skill, and why. */
interface BrokenSkill extends Place {
  readonly problem: string;
}

export interface Catalogue {
  readonly skills: readonly CataloguedSkill[];
  readonly broken: readonly BrokenSkill[];
  /** There are more than are read. */
  readonly isCut: boolean;
}

/** `folders`: the lowest precedence first. A folder that does not exist counts as empty. */
export async function catalogueOf(folders: readonly SkillFolder[], files: AgentFiles): Promise<Catalogue> {
  const found = new Collected(files);
  for (const folder of folders.toReversed()) await found.take(folder);
  return { skills: found.skills, broken: found.broken, isCut: found.isCut };
}

/** The skill that a call means by this name. */
export function findIn({ skills }: Catalogue, name: string): CataloguedSkill | undefined {
  const wanted = name.toLowerCase();
  return (
    skills.find((skill) => skill.name === name) ?? skills.find((skill) => skill.name.toLowerCase() === wanted)
  );
}

class Collected {
  readonly skills: CataloguedSkill[] = [];
  readonly broken: BrokenSkill[] = [];
  isCut = false;
  readonly #files: AgentFiles;
  /** From the name to the path that has it. */
  readonly #names = new Map<string, string>();
  readonly #read = new Set<string>();

  constructor(files: AgentFiles) {
    this.#files = files;
  }

  async take({ dir, source, kind }: SkillFolder): Promise<void> {
    const entries = (await this.#list(dir)).sort();
    for (const entry of entries) {
      if (isName(entry))
        await this.#add({ name: entry, source, path: `${dir}/${entry}/SKILL.md`, isCommand: false });
    }
    if (kind === "commands") await this.#commands(dir, "", source);
  }

  async #commands(dir: string, below: string, source: SkillSource): Promise<void> {
    const at = below === "" ? dir : `${dir}/${below}`;
    const entries = (await this.#list(at)).sort();
    // a folder with its own SKILL.md is a skill, and its other files are its own
    if (below !== "" && entries.includes("SKILL.md")) return;
    for (const entry of entries) {
      const path = below === "" ? entry : `${below}/${entry}`;
      if (/\.md$/i.test(entry)) {
        const name = nameOf(path);
        if (name !== undefined) await this.#add({ name, source, path: `${dir}/${path}`, isCommand: true });
      } else if (isName(entry) && path.split("/").length < MAX_COMMAND_DEPTH)
        await this.#commands(dir, path, source);
    }
  }

  async #list(dir: string): Promise<string[]> {
    // a file in place of a folder, and a folder that may not be read, hold no skills
    return [...(await this.#files.list(dir).catch(() => []))];
  }

  async #add(place: Place): Promise<void> {
    if (this.skills.length + this.broken.length >= MAX_SKILLS) {
      this.isCut = true;
      return;
    }
    try {
      await this.#load(place);
    } catch (error) {
      this.broken.push({
        ...place,
        problem: codeOf(error) === "INVALID" ? messageOf(error) : `${place.path}: ${messageOf(error)}`,
      });
    }
  }

  async #load(place: Place): Promise<void> {
    const { path, name, source, isCommand } = place;
    const real = await ifThere(this.#files.realPath(path));
    if (real === undefined || this.#read.has(real)) return;
    const folder = path.slice(0, path.lastIndexOf("/"));
    const dir = await this.#files.realPath(folder);
    const text = await readInside(this.#files, dir, path, "skill");
    if (text === undefined) return;
    this.#read.add(real);
    const file = parseSkillFile(text, { path, entry: name, isCommand });
    const shadowedBy = this.#names.get(name);
    if (shadowedBy === undefined) this.#names.set(name, path);
    const shown = shadowedBy === undefined ? name : `${source}:${name}`;
    this.skills.push({
      ...place,
      name: shown,
      dir,
      file,
      ...(shadowedBy === undefined ? {} : { shadowedBy }),
    });
  }
}

function nameOf(path: string): string | undefined {
  try {
    return commandName(path);
  } catch {
    return undefined;
  }
}
