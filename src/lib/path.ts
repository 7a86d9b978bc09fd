/** Absolute paths as text, with `/` between segments. The caller must normalize paths before comparing them. */

/** Is `path` equal to `base` or below it, by whole segments? `/desk2` is not within `/desk`. */
export function isWithin(base: string, path: string): boolean {
  return path === base || path.startsWith(base.endsWith("/") ? base : `${base}/`);
}
