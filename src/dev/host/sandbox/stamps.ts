/**
 * The identity of what is mounted. A mount stays with the file or folder it was made of, and protects nothing once that was
 * replaced: another sandbox is made then, and of a program that still runs it is told, as nothing holds it back.
 */
import { lstatSync } from "node:fs";
import type { Mount } from "./mounts.ts";

const UNSEEN = "unseen";

export function stampsOf(mounts: readonly Mount[]): readonly string[] {
  return mounts.map((mount) => stampOf(mount.op === "place" ? mount.from : mount.path));
}

export function stampOf(path: string): string {
  try {
    const { dev, ino, birthtimeNs } = lstatSync(path, { bigint: true });
    return `${dev} ${ino} ${birthtimeNs}`;
  } catch {
    return UNSEEN;
  }
}

/**
 * What was closed or hidden by a mount and is another by now, as after most editors have saved it; in words. `before`: stampsOf().
 */
export function replacedSince(
  mounts: readonly Mount[],
  before: readonly string[],
  isTold: (path: string) => boolean,
): readonly string[] {
  return mounts.flatMap(({ op, path }, n) => {
    if ((op !== "read" && op !== "blank") || !isTold(path)) return [];
    const [was, now] = [before[n], stampOf(path)];
    if (was === UNSEEN || now === UNSEEN || was === now) return [];
    const lost = op === "read" ? "closed to" : "hidden from";
    return [
      `${path} was replaced while the command ran, and was no longer ${lost} it: look at it before it is used`,
    ];
  });
}
