/** Names of compose projects. No schema here: the thin client needs them too. */

/** The same rule as for names of supervisors. */
export const PROJECT_NAME = /^[a-z][a-z0-9_-]{0,63}$/;

/**
 * The name of a project whose file gives none: its directory's, in small letters, everything else as one `-`, from the first
 * letter on, at most 64; `project` where nothing is left.
 */
export function projectNameOf(dir: string): string {
  const base = dir.split("/").findLast((segment) => segment !== "") ?? "";
  const name = base
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 64)
    .replace(/[-_]+$/, "");
  return name === "" ? "project" : name;
}
