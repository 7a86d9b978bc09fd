/**
 * The file in which a process keeps its plan. It lies in the process's own folder; a symbolic link in its place is
 * not followed.
 */
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

const MAX_BYTES = 1024 * 1024;

/**
 * Empty if the file is missing or not a regular file. Of a longer file only the first MiB, which exceeds the bound of
 * a plan.
 */
export async function readPlan(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return "";
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(MAX_BYTES), position: 0 });
    return buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENXIO") return "";
    throw error;
  }
}

/** Writes the plan atomically. */
export async function writePlan(path: string, plan: string, unique: string): Promise<void> {
  const made = `${path}.${unique}`;
  try {
    {
      await using file = await open(made, "wx", 0o600);
      await file.writeFile(plan);
      await file.sync();
    }
    await rename(made, path);
    await using folder = await open(dirname(path));
    // some file systems cannot sync one
    await folder.sync().catch(() => {});
  } catch (error) {
    await rm(made, { force: true });
    throw error;
  }
}
