/** Program files on this machine. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
}

/** In the folders of a PATH; relative ones are left out, because their meaning depends on the working directory. */
export function findOnPath(name: string, path: string | undefined): string | undefined {
  const folders = (path ?? "").split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}
