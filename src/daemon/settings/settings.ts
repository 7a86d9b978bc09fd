/** Reads one settings file. Invalid values are reported and left out; the rest counts. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import { Settings } from "../../abi/settings/settings.ts";

export const MAX_SETTINGS_BYTES = 1024 * 1024;
/** The most problems that are reported one by one; a file with more is not used. */
const MAX_PROBLEMS = 50;

interface ReadSettings {
  readonly settings: Settings;
  /** One line per problem: file, path of the key, what is wrong. */
  readonly problems: readonly string[];
}

interface ReadFile extends ReadSettings {
  /** SHA-256 of the bytes, in hex; null: no such file, or it cannot be read. */
  readonly digest: string | null;
}

/** The user's own settings. A missing file is empty. Never throws. */
export function readSettings(configDir: string): ReadSettings {
  const { settings, problems } = readSettingsFile(join(configDir, "settings.json"));
  return { settings, problems };
}

/** `mayRead`: a further check of the open file, which returns why it may not be read. Never throws. */
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

/** null: no such file. A project may have anything by that name, so that a pipe must not block the read. */
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

/**
 * Removes exactly the invalid values, one at a time, so that a bad rule does not disable its neighbours. What lacks
 * something that it needs goes as a whole, and so does a device with any bad value: its other values may not suit it.
 */
export function parseSettings(value: unknown, file: string): ReadSettings {
  const problems: string[] = [];
  const kept: unknown = structuredClone(value);
  let removed: string | undefined;
  while (problems.length < MAX_PROBLEMS) {
    const parsed = Settings.safeParse(kept);
    if (parsed.success) return { settings: parsed.data, problems };
    const issue = parsed.error.issues[0];
    const path = issue?.path ?? [];
    const name = path.map(String).join(".");
    // the reason why it is missing was told
    if (name !== removed || !isMissing(kept, path))
      problems.push(`INVALID ${file}: ${name || "the file"}${idOf(kept, path)}: ${issue?.message}`);
    removed = name;
    if (!remove(kept, path[0] === "devices" ? path.slice(0, 2) : path)) break;
  }
  return { settings: {}, problems };
}

/** Of the device that a path leads into: positions in a list do not say which one it is. */
function idOf(root: unknown, path: readonly PropertyKey[]): string {
  if (path[0] !== "devices" || path.length < 2) return "";
  const device = holderOf(root, [...path.slice(0, 2), "id"]);
  const id = isObject(device) ? Reflect.get(device, "id") : undefined;
  return typeof id === "string" ? ` (${JSON.stringify(id.slice(0, 128))})` : "";
}

function remove(root: unknown, path: readonly PropertyKey[]): boolean {
  const key = path.at(-1);
  if (isMissing(root, path)) return remove(root, path.slice(0, -1));
  const holder = holderOf(root, path);
  if (key === undefined || !isObject(holder)) return false;
  if (Array.isArray(holder)) return holder.splice(Number(key), 1).length > 0;
  return Reflect.deleteProperty(holder, key);
}

function isMissing(root: unknown, path: readonly PropertyKey[]): boolean {
  const holder = holderOf(root, path);
  const key = path.at(-1);
  return key !== undefined && isObject(holder) && !Object.hasOwn(holder, key);
}

function holderOf(root: unknown, path: readonly PropertyKey[]): unknown {
  let holder: unknown = root;
  for (const step of path.slice(0, -1)) holder = isObject(holder) ? Reflect.get(holder, step) : undefined;
  return holder;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
