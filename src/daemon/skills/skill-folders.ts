/** Where skills are looked for: what is shipped, the user's own, a trusted workspace's, the administrator's. */
import { join } from "node:path";
import { COMMAND_FOLDERS, SKILL_FOLDERS } from "../../abi/trust.ts";
import type { SkillFolder } from "../../agent/definition/catalogue.ts";
import { foldersBetween } from "../../agent/instructions/collect.ts";
import { isWithin } from "../../lib/path.ts";
import type { ProjectView } from "../trust/trust.ts";

export interface SkillPlaces {
  readonly home: string;
  readonly configDir: string;
  /** The directory of what is shipped. */
  readonly lib: string;
  /** The folder of the administrator's files. */
  readonly policyDir: string;
}

/** The lowest precedence first. Folders in the formats of other programs come before all of Crux's own. */
export function skillFolders(
  places: SkillPlaces,
  view: Pick<ProjectView, "root" | "isTrusted">,
  cwd: string,
): readonly SkillFolder[] {
  const { home } = places;
  const { others, own } = view.isTrusted ? ofProject(view.root, cwd, isWithin(view.root, home)) : NONE;
  const [policy, ...ours] = ownFolders(places).toReversed();
  return [...others, ...ours.toReversed(), ...own, ...(policy === undefined ? [] : [policy])];
}

/** Those that no workspace brings, for the policy: what lies in them may be read. */
export function ownSkillFolders(places: SkillPlaces): readonly string[] {
  return ownFolders(places).map(({ dir }) => dir);
}

function ownFolders({ home, configDir, lib, policyDir }: SkillPlaces): readonly SkillFolder[] {
  return [
    { dir: join(home, ".agents/skills"), source: "user", kind: "skills" },
    { dir: join(home, ".claude/skills"), source: "user", kind: "skills" },
    { dir: join(lib, "skills"), source: "bundled", kind: "skills" },
    { dir: join(configDir, "skills"), source: "user", kind: "skills" },
    { dir: join(policyDir, "skills"), source: "policy", kind: "skills" },
  ];
}

const NONE = { others: [], own: [] };

/** The folders of a workspace from its root down to `dir`, the nearest last. */
export function ofProject(
  root: string,
  dir: string,
  isHome: boolean,
): { readonly others: readonly SkillFolder[]; readonly own: readonly SkillFolder[] } {
  const at = (folder: string) => [
    ...COMMAND_FOLDERS.map((path) => ({ dir: join(folder, path), kind: "commands" as const, path })),
    ...SKILL_FOLDERS.map((path) => ({ dir: join(folder, path), kind: "skills" as const, path })),
  ];
  const all = foldersBetween(root, dir).flatMap(at);
  const isOwn = ({ path }: { path: string }) => path.startsWith(".crux/");
  return {
    // a home directory contributes only Crux's own: the others there are the user's
    others: all
      .filter((each) => !isOwn(each) && !isHome)
      .map(({ dir, kind }) => ({ dir, kind, source: "other" })),
    own: all.filter(isOwn).map(({ dir, kind }) => ({ dir, kind, source: "project" })),
  };
}
