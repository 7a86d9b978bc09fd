/**
 * Where instruction files are looked for, and which of them are read: those of the administrator and of the user, and
 * those of a trusted workspace, each as the user has seen it. Never a secret, and nothing from a folder in which others
 * can put files.
 */
import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { InstructionScope } from "../abi/surroundings.ts";
import {
  type Candidate,
  type Collected,
  collect,
  foldersBetween,
  type InstructionFiles,
  inFolders,
} from "../agent/instructions/collect.ts";
import { isWithin } from "../lib/path.ts";
import { digestOf, readBrought } from "./trust/inventory.ts";
import type { ProjectView } from "./trust/trust.ts";

export interface InstructionPlaces {
  readonly home: string;
  readonly configDir: string;
  /** The folder of the administrator's files. */
  readonly policyDir: string;
  readonly isSecret: (path: string) => boolean;
  /** The rule that denies the process to read a file. Absent: no rule is asked. */
  readonly denied?: ((path: string) => string | undefined) | undefined;
}

/** Those that every process in `cwd` is given at its start. */
export function instructionsAt(
  places: InstructionPlaces,
  view: ProjectView,
  cwd: string,
): Promise<Collected> {
  const { home, configDir, policyDir } = places;
  const ofProject = view.isTrusted ? inFolders(foldersBetween(view.root, cwd), "project", [view.root]) : [];
  const candidates: readonly Candidate[] = [
    { path: join(policyDir, "AGENTS.md"), scope: "policy", within: [policyDir] },
    { path: join(configDir, "AGENTS.md"), scope: "user", within: [configDir, home] },
    { path: join(home, ".claude/CLAUDE.md"), scope: "user", within: [home] },
    ...ofProject,
  ];
  return collect(candidates, filesFor(places, view));
}

/** Those of the folders between `cwd` and the touched folders, which are below it. */
export async function instructionsBelow(
  places: InstructionPlaces,
  view: ProjectView,
  { cwd, dirs }: { readonly cwd: string; readonly dirs: readonly string[] },
): Promise<Collected> {
  if (!view.isTrusted) return { texts: [], notices: [] };
  const folders: string[] = [];
  for (const dir of dirs) {
    const real = await realPathOf(dir);
    if (real === undefined || !isWithin(cwd, real)) continue;
    for (const folder of foldersBetween(cwd, real).slice(1)) {
      // another repository has its own trust
      if ((await realPathOf(join(folder, ".git"))) !== undefined) break;
      folders.push(folder);
    }
  }
  return collect(inFolders([...new Set(folders)], "nested", [view.root]), filesFor(places, view));
}

function filesFor({ home, isSecret, denied }: InstructionPlaces, view: ProjectView): InstructionFiles {
  return {
    home,
    realPath: realPathOf,
    read: async ({ path, real, scope }) => {
      if (isSecret(real)) throw new Error("it may hold secrets");
      // the administrator's own file is not the user's to deny
      const rule = scope === "policy" ? undefined : (denied?.(real) ?? denied?.(path));
      if (rule !== undefined) throw new Error(`${rule} denies it`);
      await checkFolder(dirname(real));
      const bytes = await readBrought(real);
      if (isOfProject(scope) && ![path, real].some((each) => view.approves(each, digestOf(bytes))))
        throw new Error(`it is new or changed: crux trust ${dirname(path)}`);
      return textOf(bytes);
    },
  };
}

function isOfProject(scope: InstructionScope): boolean {
  return scope === "project" || scope === "nested";
}

function textOf(bytes: Buffer): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\u0000")) return text;
  } catch {
    // said below
  }
  throw new Error("it is not UTF-8 text");
}

/** Throws where others than the user and root can put files into the folder. */
async function checkFolder(dir: string): Promise<void> {
  const { uid, mode } = await stat(dir);
  if (uid !== 0 && uid !== process.getuid?.()) throw new Error("its folder belongs to another user");
  if ((mode & 0o002) !== 0) throw new Error("every user can write into its folder");
}

/** Most are not there, which is known at once: to wait for each refusal cost an agent a millisecond of its start. */
async function realPathOf(path: string): Promise<string | undefined> {
  return existsSync(path) ? realpath(path).catch(() => undefined) : undefined;
}
