/** Agent and skill files on the host. */
import { statSync } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import type { StampedFiles } from "../../agent/definition/cache.ts";

export const definitionFiles: StampedFiles = {
  readText: (path) => readFile(path, "utf8"),
  list: (dir) => readdir(dir),
  realPath: (path) => realpath(path),
  stamp: stampOf,
};

/** A stamp that changes when the file does; "" if it does not exist or cannot be inspected. */
function stampOf(path: string): string {
  try {
    const { ino, mtimeNs, ctimeNs, size } = statSync(path, { bigint: true });
    return `${ino} ${mtimeNs} ${ctimeNs} ${size}`;
  } catch {
    return "";
  }
}
