// What builds that were killed have left: folders named after their process.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** @param {string} root */
export function removeLeftovers(root) {
  for (const name of readdirSync(root)) {
    const pid = /^dist\.(?:tmp|old)-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(root, name), { recursive: true, force: true });
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // a process of another user runs too
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
