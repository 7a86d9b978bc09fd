/** A worktree as its files show it, without a git process. A marker in its git directory says that Crux has made it. */
import { lstatSync, realpathSync } from "node:fs";
import { lstat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../abi/errors.ts";
import { WORKTREES, type Worktree } from "../../abi/worktree.ts";
import { readRegular, readRegularSync } from "../../lib/regular-file.ts";
import { makeParents } from "../folder.ts";

export const MARKER = "crux.json";
/** Below the main checkout; as its `info/exclude` names it. */
export const EXCLUDED = `${WORKTREES}/`;
const MAX_BYTES = 1024 * 1024;

/** Who has made it; undefined: Crux has not, or its marker cannot be read. */
export async function ownerOf(path: string): Promise<unknown> {
  try {
    return (JSON.parse(await textIn(ownGitDir(path), MARKER)) as { readonly owner?: unknown }).owner;
  } catch {
    return undefined;
  }
}

/** `.crux` must not be a link that leads elsewhere. */
export function realInside(main: string, parent: string): string {
  const real = realpathSync(parent);
  if (real !== join(main, EXCLUDED).replace(/\/$/, "")) throw isLink(parent);
  return real;
}

/** As realInside(), and makes it; nothing is made where a link leads. */
export function madeInside(main: string, parent: string): string {
  if (lstatSync(join(main, WORKTREES, ".."), { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw isLink(parent);
  makeParents(join(main, WORKTREES, "any"));
  return realInside(main, parent);
}

function isLink(parent: string): Fault {
  return fault("INVALID", `${parent} is a link; worktrees lie in the checkout itself`);
}

/** One worktree does not lie in another. */
export async function checkPrefixes(parent: string, slug: string): Promise<void> {
  for (let above = dirname(slug); above !== "."; above = dirname(above))
    if (await isThere(join(parent, above, ".git")))
      throw fault("CONFLICT", `the worktree ${above} is there: ${slug} would lie in it`);
}

/** An existing one is read without git, and counts as new again for those who look at its age. */
export async function taken(
  path: string,
  { main, gitDir }: Pick<Worktree, "main" | "gitDir">,
): Promise<Worktree> {
  const conflict = (why: string) => fault("CONFLICT", `${path} is there, and ${why}`);
  if (!(await isThere(join(path, ".git")))) throw conflict("other worktrees lie in it, or it is none");
  const own = ownGitDir(path);
  if (dirname(own) !== join(gitDir, "worktrees") || !(await isThere(join(own, MARKER))))
    throw conflict("Crux has not made it");
  const { base, branch } = JSON.parse(await textIn(own, MARKER)) as Partial<Worktree>;
  if (base === undefined || branch === undefined) throw conflict("its marker cannot be read");
  const now = new Date();
  await utimes(path, now, now);
  return { path, branch, main, gitDir, base };
}

/** The git directory of a worktree alone, by its pointer file. */
export function ownGitDir(path: string): string {
  const [, to = ""] =
    /^gitdir: (.+)$/m.exec(readRegularSync(join(path, ".git"), 4_096).toString("utf8")) ?? [];
  return realpathSync(to);
}

/** A program in the worktree may write to its git directory. */
export async function textIn(dir: string, name: string): Promise<string> {
  return (await readRegular(join(dir, name), MAX_BYTES)).toString("utf8");
}

export async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

export function fault(code: "INVALID" | "CONFLICT" | "UNAVAILABLE", message: string, cause?: unknown): Fault {
  return new Fault({ code, message, ...(cause === undefined ? {} : { cause }) });
}
