/** Names of compose projects. No schema here: the thin client needs them too. */

/** The same pattern as for names of supervisors. */
export const PROJECT_NAME = /^[a-z][a-z0-9_-]{0,63}$/;

/**
 * The default name of a project: that of its directory in lower case, other characters replaced by one `-`, from the
 * first letter on, at most 64; `project` if nothing is left.
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
