/** The lock of a task list: a file that names who holds it. One whose holder is dead is broken. */
import { open, readFile, rm } from "node:fs/promises";
import type { Clock } from "../../abi/program.ts";
import { driverError, errnoOf } from "../driver-error.ts";

const TRIES = 30;
const FIRST_WAIT_MS = 5;
/** 30 tries take 2.6 s. */
const LONGEST_WAIT_MS = 100;

/** TIMEOUT: somebody else holds it all the time. The result gives it back. */
export async function takeLock(path: string, clock: Pick<Clock, "sleep">): Promise<() => Promise<void>> {
  for (let tries = 1, waitMs = FIRST_WAIT_MS; ; tries++, waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    if (await create(path)) return () => rm(path, { force: true });
    if (await isAbandoned(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (tries === TRIES)
      throw driverError("Write", "TIMEOUT", `the task list is locked by another program: ${path}`);
    await clock.sleep(waitMs);
  }
}

async function create(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(String(process.pid));
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** A holder that has not written its name yet is given the time to. This daemon never waits for itself. */
async function isAbandoned(path: string): Promise<boolean> {
  const holder = Number(await readFile(path, "utf8").catch(() => ""));
  if (!Number.isInteger(holder) || holder <= 0) return false;
  return holder === process.pid || !isAlive(holder);
}

function isAlive(osPid: number): boolean {
  try {
    process.kill(osPid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}
