/** Absolute paths as text, `/` between segments; whoever compares them has put them into one form before. */

/** Is `path` equal to `base` or below it, by whole segments? `/desk2` is not within `/desk`. */
export function isWithin(base: string, path: string): boolean {
  return path === base || path.startsWith(base.endsWith("/") ? base : `${base}/`);
}
