/** Paths as the policy compares them: absolute, by segment, without `.` and `..`, in Unicode's composed form. */
import { posix } from "node:path";
import { isWithin } from "../../lib/path.ts";

export function normalPath(path: string): string {
  return writtenPath(path.normalize("NFC"));
}

/**
 * The normal path without Unicode normalisation: names that differ only in Unicode form are two files on most volumes.
 */
export function writtenPath(path: string): string {
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}

export function segmentsOf(path: string): readonly string[] {
  return namesIn(normalPath(path));
}

/** The names in a path that is already normalised. */
export function namesIn(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** Compares whole segments: /workspace2 is not inside /workspace. A directory is inside itself. */
export function isInside(dir: string, path: string): boolean {
  return isWithin(normalPath(dir), normalPath(path));
}

/**
 * Whether one of the directories grants the path, compared without Unicode normalisation. Restrictions apply to both
 * Unicode forms (isInsideAny).
 */
export function isGivenBy(dirs: readonly string[], path: string): boolean {
  return dirs.some((dir) => isWithin(writtenPath(dir), writtenPath(path)));
}

export function isInsideAny(dirs: readonly string[], path: string): boolean {
  return dirs.some((dir) => isInside(dir, path));
}

/** Text for the user or the model: control and invisible characters are escaped, long text is cut. */
export function shown(text: string): string {
  const safe = text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return safe.length <= 300 ? safe : `${safe.slice(0, 200)} … ${safe.slice(-80)}`;
}

/** Some volumes treat names that differ only in case or in invisible characters as the same name. */
export function foldName(text: string): string {
  if (!/[^\x20-\x7e]/.test(text)) return text.toLowerCase();
  return text
    .normalize("NFC")
    .replace(/\p{Cf}/gu, "")
    .toUpperCase()
    .toLowerCase();
}
