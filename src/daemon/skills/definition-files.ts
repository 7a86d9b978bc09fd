/** Agent and skill files on the host. */
import { statSync } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import type { StampedFiles } from "../../agent/definition/cache.ts";
import { readRegular } from "../../lib/regular-file.ts";

/** What may be larger than a definition, and is said to be. */
const MAX_BYTES = 4 * 1024 * 1024;

export const definitionFiles: StampedFiles = {
  readText: async (path) => (await readRegular(path, MAX_BYTES)).toString("utf8"),
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
