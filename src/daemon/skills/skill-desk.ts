/**
 * The skills in reach of a process: found where it works, listed in the order of their use, and read at the moment of a
 * call. What a workspace brings counts only as the user has seen it; where the workspace is not trusted, no skill runs a
 * command.
 */
import { realpathSync } from "node:fs";
import {
  hasInlineCommands,
  isOwnSkill,
  type SkillLine,
  type SkillShelf,
  type SkillText,
} from "../../abi/skill.ts";
import { DefinitionCache, type StampedFiles } from "../../agent/definition/cache.ts";
import {
  type Catalogue,
  type CataloguedSkill,
  catalogueOf,
  findIn,
} from "../../agent/definition/catalogue.ts";
import { MAX_FILE_BYTES } from "../../agent/definition/files.ts";
import { parseSkillFile } from "../../agent/definition/skill-file.ts";
import { isWithin } from "../../lib/path.ts";
import { readRegularSync } from "../../lib/regular-file.ts";
import { trustedFiles } from "../project.ts";
import { digestOf } from "../trust/inventory.ts";
import type { ProjectView, Trust } from "../trust/trust.ts";
import { ofProject, type SkillPlaces, skillFolders } from "./skill-folders.ts";
import type { SkillUsage } from "./skill-usage.ts";

/** Catalogues that are kept, without the texts of their skills. */
const MAX_KEPT = 16;

interface SkillDeskOptions extends SkillPlaces {
  readonly trust: Pick<Trust, "viewOf">;
  readonly files: StampedFiles;
  readonly usage: Pick<SkillUsage, "score" | "used">;
  /** The settings that apply in a folder. */
  readonly settings: (cwd: string) => {
    readonly disabled: readonly string[];
    readonly runsCommands: boolean;
  };
}

interface Known {
  readonly catalogue: Catalogue;
  readonly view: ProjectView;
}

export class SkillDesk {
  readonly #options: SkillDeskOptions;
  readonly #cache: DefinitionCache<Catalogue>;

  constructor(options: SkillDeskOptions) {
    this.#options = options;
    this.#cache = new DefinitionCache(options.files, { most: MAX_KEPT });
  }

  /** All skills for a process in `cwd`, with the files that are none. */
  async catalogue(cwd: string): Promise<Catalogue> {
    return (await this.#known(cwd)).catalogue;
  }

  /** Those that a model may use, the most used first; those for certain files have their patterns. */
  async lines(cwd: string): Promise<readonly SkillLine[]> {
    const { catalogue } = await this.#known(cwd);
    return this.#linesOf(catalogue.skills, cwd);
  }

  /** Those of the folders between `cwd` and `dirs`, which are below it. */
  async linesBelow(cwd: string, dirs: readonly string[]): Promise<readonly SkillLine[]> {
    const { catalogue } = await this.#known(cwd, dirs);
    const above = new Set((await this.#known(cwd)).catalogue.skills.map(({ path }) => path));
    return this.#linesOf(
      catalogue.skills.filter(({ path }) => !above.has(path)),
      cwd,
    );
  }

  /** `dirs`: folders below `cwd` that the process has touched. */
  async shelf(cwd: string, dirs: readonly string[] = []): Promise<SkillShelf> {
    const { catalogue, view } = await this.#known(cwd, dirs);
    const skills = this.#enabled(catalogue.skills, cwd);
    return {
      find: (name) => {
        const found = findIn({ ...catalogue, skills }, name);
        return found === undefined ? undefined : this.#read(found, view, cwd);
      },
      names: () => skills.map(({ name }) => name),
      used: (name) => this.#options.usage.used(name),
    };
  }

  #linesOf(all: readonly CataloguedSkill[], cwd: string): readonly SkillLine[] {
    const { usage } = this.#options;
    const named = this.#enabled(all, cwd).filter(
      ({ file, shadowedBy }) => file.forModel && shadowedBy === undefined,
    );
    const scored = named.map((skill) => ({ skill, score: usage.score(skill.name) }));
    scored.sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1));
    return scored.map(({ skill: { name, source, file } }) => {
      const paths = file.paths.length === 0 ? {} : { paths: file.paths };
      return { name, source, description: file.description, ...paths };
    });
  }

  #enabled(skills: readonly CataloguedSkill[], cwd: string): readonly CataloguedSkill[] {
    const disabled = new Set(this.#options.settings(cwd).disabled);
    return skills.filter(({ name }) => !disabled.has(name));
  }

  async #known(cwd: string, dirs: readonly string[] = []): Promise<Known> {
    const { trust } = this.#options;
    const view = trust.viewOf(cwd);
    const below = view.isTrusted ? dirs : [];
    const folders = [...skillFolders(this.#options, view, cwd)];
    for (const dir of below) {
      const { others, own } = ofProject(cwd, dir, false);
      const fresh = [...others, ...own].filter((each) =>
        folders.every(({ dir: known }) => known !== each.dir),
      );
      folders.splice(-1, 0, ...fresh);
    }
    const isBrought = (source: string) => source === "other" || source === "project";
    const brought = folders.filter(({ source }) => isBrought(source)).map(({ dir }) => dir);
    const key = JSON.stringify([view.key, folders.map(({ dir }) => dir)]);
    const catalogue = await this.#cache.load(key, async (seen) =>
      withoutTexts(await catalogueOf(folders, trustedFiles(seen, view, brought))),
    );
    return { catalogue, view };
  }

  /** Read anew, as it is now: it may have changed since it was listed. */
  #read(
    { name, source, path, dir, isCommand }: CataloguedSkill,
    view: ProjectView,
    cwd: string,
  ): SkillText | undefined {
    const text = readNow(
      path,
      dir,
      (real, read) => isOwnSkill(source) || view.approves(real, digestOf(read)),
    );
    if (text === undefined) return undefined;
    const entry = name.replace(/^(?:other|bundled|user|project|policy):/, "");
    const file = parseSkillFile(text, { path, entry, isCommand });
    const { body, argumentNames, rules, forModel, forUser, fork, isSafe } = file;
    const runsCommands = view.isTrusted && this.#options.settings(cwd).runsCommands;
    const isPlain = isSafe && !(runsCommands && hasInlineCommands(body));
    return {
      name,
      source,
      dir,
      body,
      argumentNames,
      rules,
      runsCommands,
      forModel,
      forUser,
      fork,
      isPlain,
    };
  }
}

function withoutTexts({ skills, ...rest }: Catalogue): Catalogue {
  return { ...rest, skills: skills.map((skill) => ({ ...skill, file: { ...skill.file, body: "" } })) };
}

/** The text of a regular file inside `dir`. undefined: it is gone, too large, leads out, or is not approved. */
function readNow(
  path: string,
  dir: string,
  approves: (real: string, text: string) => boolean,
): string | undefined {
  try {
    const real = realpathSync(path);
    if (!isWithin(dir, real)) return undefined;
    const text = readRegularSync(real, MAX_FILE_BYTES).toString("utf8");
    return approves(real, text) ? text : undefined;
  } catch {
    return undefined;
  }
}
