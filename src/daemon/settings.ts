/** Reads one settings file. What is wrong in it is told and left out; the rest counts. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../abi/errors.ts";
import { Settings } from "../abi/settings.ts";

export const MAX_SETTINGS_BYTES = 1024 * 1024;
/** Wrong places told one by one; a file with more is not read. */
const MAX_PROBLEMS = 50;

interface ReadSettings {
  readonly settings: Settings;
  /** One line each: file, path of the key, what is wrong. */
  readonly problems: readonly string[];
}

interface ReadFile extends ReadSettings {
  /** SHA-256 of the bytes, hex; null: there is no such file, or it cannot be read. */
  readonly digest: string | null;
}

/** The user's own. A missing file is empty. Never throws. */
export function readSettings(configDir: string): ReadSettings {
  const { settings, problems } = readSettingsFile(join(configDir, "settings.json"));
  return { settings, problems };
}

/** `mayRead`: what else must hold of the open file, in words what does not. Never throws. */
export function readSettingsFile(
  file: string,
  mayRead: (stats: { uid: number; mode: number }) => string | null = () => null,
): ReadFile {
  try {
    const bytes = bytesOf(file, mayRead);
    if (bytes === null) return { settings: {}, problems: [], digest: null };
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const digest = createHash("sha256").update(bytes).digest("hex");
    return { ...parseSettings(JSON.parse(text), file), digest };
  } catch (error) {
    return { settings: {}, problems: [`INVALID ${file}: ${messageOf(error)}`], digest: null };
  }
}

/** null: there is none. A project may bring anything by that name: a pipe is not waited for. */
function bytesOf(
  file: string,
  mayRead: (stats: { uid: number; mode: number }) => string | null,
): Buffer | null {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error("not a regular file");
    if (stats.size > MAX_SETTINGS_BYTES) throw new Error(`over ${MAX_SETTINGS_BYTES} bytes`);
    const refusal = mayRead(stats);
    if (refusal !== null) throw new Error(refusal);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function isAbsent(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Takes out exactly what is wrong, one value at a time, so that a bad rule does not switch off its neighbours. */
export function parseSettings(value: unknown, file: string): ReadSettings {
  const problems: string[] = [];
  const kept: unknown = structuredClone(value);
  while (problems.length < MAX_PROBLEMS) {
    const parsed = Settings.safeParse(kept);
    if (parsed.success) return { settings: parsed.data, problems };
    const issue = parsed.error.issues[0];
    const path = issue?.path ?? [];
    problems.push(`INVALID ${file}: ${path.map(String).join(".") || "the file"}: ${issue?.message}`);
    if (!remove(kept, path)) break;
  }
  return { settings: {}, problems };
}

function remove(root: unknown, path: readonly PropertyKey[]): boolean {
  const key = path.at(-1);
  let holder: unknown = root;
  for (const step of path.slice(0, -1)) holder = isObject(holder) ? Reflect.get(holder, step) : undefined;
  if (key === undefined || !isObject(holder)) return false;
  if (Array.isArray(holder)) return holder.splice(Number(key), 1).length > 0;
  return Reflect.deleteProperty(holder, key);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
