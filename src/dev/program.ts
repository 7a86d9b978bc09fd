/** Finds programs on the host. */
import { statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import type { DriverError } from "../abi/errors.ts";
import { isExecutable, isFile } from "../lib/program-file.ts";
import { driverError } from "./driver-error.ts";

const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/** The directories of a PATH; relative ones are left out, because their meaning depends on the working directory. */
export function pathDirectories(path: string | undefined): string[] {
  return (path ?? defaultPath).split(":").filter((directory) => isAbsolute(directory));
}

const systemPlaces = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
const systemPrograms = new Map<string, string | undefined>();

/** A program of the system, regardless of PATH; undefined: not installed. Looked up once. */
export function findSystemProgram(name: string): string | undefined {
  if (!systemPrograms.has(name))
    systemPrograms.set(name, systemPlaces.map((place) => join(place, name)).find(isExecutable));
  return systemPrograms.get(name);
}

/** The absolute path of the program that `name` starts, or the error that says why none is started. */
export function findProgram(
  name: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): string | DriverError {
  const places = name.includes("/")
    ? [resolve(cwd, name)]
    : pathDirectories(env.PATH).map((directory) => join(directory, name));
  const found = places.find(isExecutable);
  if (found !== undefined) return found;
  if (places.some(isFile)) return driverError("Open", "PERMISSION", `program is not executable: ${name}`);
  return driverError("Open", "NOT_FOUND", `program not found: ${name}`);
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
