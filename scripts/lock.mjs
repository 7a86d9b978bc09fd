// One set-up at a time for a working copy. The lock is a directory that appears complete, with its owner's
// pid in it; a lock whose owner is gone is moved aside under a name made from its token, so that of two
// waiters who saw it stale only one can move it. Runs on plain Node 20.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readText } from "./stamp.mjs";

const pollMs = 200;

/**
 * Takes the lock at `path` and holds it until this process exits.
 * @param {string} path
 * @param {(pid: number) => void} onWait called once, with the holder's pid, before waiting
 */
export function holdLock(path, onWait) {
  mkdirSync(dirname(path), { recursive: true });
  const mine = mkdtempSync(`${path}-`);
  const token = mine.slice(path.length + 1);
  writeFileSync(join(mine, "owner"), `${process.pid} ${token}`);
  const leftovers = [mine];
  process.on("exit", () => {
    for (const directory of leftovers) rmSync(directory, { recursive: true, force: true });
  });
  for (let told = false; !tryRename(mine, path); ) {
    const [pid = "", theirs = ""] = readText(join(path, "owner")).split(" ");
    if (pid === "") continue; // released between the two calls
    if (!isAlive(Number(pid))) {
      const stale = `${path}.stale-${theirs}`;
      if (tryRename(path, stale)) leftovers.push(stale);
      continue;
    }
    if (!told) onWait(Number(pid));
    told = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs);
  }
  leftovers.push(path);
}

/**
 * @param {string} from
 * @param {string} to
 */
function tryRename(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    // taken (a directory with an owner in it cannot be replaced), or moved by somebody else
    if (["ENOTEMPTY", "EEXIST", "ENOENT"].includes(errorCode(error))) return false;
    throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** @param {unknown} error */
function errorCode(error) {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
