/** The environment of a local server: what any program needs to find its way, and what its entry adds. Never a key of ours. */
const KEPT = /^(HOME|LOGNAME|PATH|SHELL|TERM|USER|LANG|LC_[A-Z_]+|TMPDIR|XDG_[A-Z_]+)$/;
/** Differ from terminal to terminal, and change nothing about what a server does. */
const COSMETIC = /^(TERM|LANG|LC_[A-Z_]+|XDG_(SESSION|SEAT|VTNR|CURRENT_DESKTOP)\w*)$/;

export function serverEnvironment(
  owner: Readonly<Record<string, string>>,
  entry: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(owner).filter(([name]) => KEPT.test(name));
  return { ...Object.fromEntries(kept), ...entry };
}

/** What of an environment makes two servers of one entry different, sorted by name. */
export function distinguishing(env: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(env)
    .filter(([name]) => !COSMETIC.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
