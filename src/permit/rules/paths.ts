/** Paths as the policy compares them: absolute, by segment, without `.` and `..`, in Unicode's composed form. */
import { posix } from "node:path";
import { isWithin } from "../../lib/path.ts";

export function normalPath(path: string): string {
  return writtenPath(path.normalize("NFC"));
}

/** The same in the characters it has: names that differ in Unicode's form alone are two files on most volumes. */
export function writtenPath(path: string): string {
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}

export function segmentsOf(path: string): readonly string[] {
  return namesIn(normalPath(path));
}

/** Of a path whose form is settled. */
export function namesIn(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** By whole segments: /workspace2 is not inside /workspace. A directory is inside itself. */
export function isInside(dir: string, path: string): boolean {
  return isWithin(normalPath(dir), normalPath(path));
}

/** Whether one of them gives the path: in the characters it has. What takes away holds for both forms (isInsideAny). */
export function isGivenBy(dirs: readonly string[], path: string): boolean {
  return dirs.some((dir) => isWithin(writtenPath(dir), writtenPath(path)));
}

export function isInsideAny(dirs: readonly string[], path: string): boolean {
  return dirs.some((dir) => isInside(dir, path));
}

/** Text for a person or the model: control and invisible characters escaped, long text cut. */
export function shown(text: string): string {
  const safe = text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return safe.length <= 300 ? safe : `${safe.slice(0, 200)} … ${safe.slice(-80)}`;
}

/** Some volumes take names that differ in case or in invisible characters for the same. */
export function foldName(text: string): string {
  return text
    .normalize("NFC")
    .replace(/\p{Cf}/gu, "")
    .toUpperCase()
    .toLowerCase();
}
