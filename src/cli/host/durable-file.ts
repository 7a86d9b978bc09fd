/** Files that a command says it has written, replaced or removed: all of it is on the disk before it says so. */
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** `flag`: `wx` refuses an existing file, EEXIST. */
export async function writeDurably(
  path: string,
  text: string,
  { flag = "wx", mode = 0o666 }: { readonly flag?: "w" | "wx"; readonly mode?: number } = {},
): Promise<void> {
  const file = await open(path, flag, mode);
  try {
    await file.writeFile(text);
    await synced(file);
  } finally {
    await file.close();
  }
  await syncFolder(path);
}

/** As a whole or not at all. */
export async function replaceDurably(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  await writeDurably(fresh, text, { flag: "w", mode: 0o600 });
  await rename(fresh, path);
  await syncFolder(path);
}

export async function removeDurably(path: string): Promise<void> {
  await rm(path);
  await syncFolder(path);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path));
  await synced(folder).finally(() => folder.close());
}

/** Pipes and terminals cannot be synced, nor the folders of some file systems. */
async function synced(file: FileHandle): Promise<void> {
  await file.sync().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EINVAL" && error.code !== "ENOTSUP") throw error;
  });
}
