/** A folder in which trust lasts: below a temporary directory it ends with each run, and a clone may lie there. */
import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";

export const NO_LASTING = "skipped: every folder here that could be written is a temporary one";

/** undefined: there is none here. */
export const LASTING = [
  fileURLToPath(new URL("../../node_modules", import.meta.url)),
  process.env.HOME ?? "/",
  `/run/user/${process.getuid?.()}`,
].find((path) => !/^\/(?:tmp|var\/tmp|dev\/shm)\//.test(path) && isWritable(path));

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
