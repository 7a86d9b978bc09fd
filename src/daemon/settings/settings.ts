/** Reads one settings file. Invalid values are reported and left out; the rest counts. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { messageOf } from "../../abi/errors.ts";
import { Settings } from "../../abi/settings/settings.ts";

export const MAX_SETTINGS_BYTES = 1024 * 1024;
/** The most problems that are reported one by one. */
const MAX_TOLD = 50;
/** What is removed may leave something incomplete, which is removed in its turn; a file that needs more is not used. */
const MAX_PASSES = 20;

interface ReadSettings {
  readonly settings: Settings;
  /** One line per problem: file, path of the key, what is wrong. */
  readonly problems: readonly string[];
}

interface ReadFile extends ReadSettings {
  /** SHA-256 of the bytes, in hex; null: no such file, or it cannot be read. */
  readonly digest: string | null;
}

/** A missing file is empty. `mayRead`: a further check of the open file, which returns why it may not be read. Never throws. */
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
 * Removes exactly the invalid values, so that a bad rule does not disable its neighbours. What lacks something that it
 * needs goes as a whole, and so does a device with any bad value: its other values may not suit it.
 */
export function parseSettings(value: unknown, file: string): ReadSettings {
  const found: string[] = [];
  const kept: unknown = structuredClone(value);
  let before: ReadonlySet<string> = new Set();
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const parsed = Settings.safeParse(kept);
    if (parsed.success) return { settings: parsed.data, problems: told(found, file) };
    const removed = new Map<string, Path>();
    for (const { path, message } of parsed.error.issues) {
      const target = targetOf(kept, path);
      if (removed.has(nameOf(target))) continue;
      removed.set(nameOf(target), target);
      // the reason why it is missing was told
      if (isMissing(kept, path) && before.has(nameOf(path))) continue;
      found.push(`INVALID ${file}: ${nameOf(path) || "the file"}${idOf(kept, path)}: ${message}`);
    }
    const isWhole = [...removed.values()].sort(lastFirst).every((path) => remove(kept, path));
    if (!isWhole) break;
    before = new Set(removed.keys());
  }
  return { settings: {}, problems: told(found, file) };
}

type Path = readonly PropertyKey[];

const nameOf = (path: Path): string => path.map(String).join(".");

function told(found: readonly string[], file: string): readonly string[] {
  const more = found.length - MAX_TOLD;
  if (more <= 0) return found;
  return [...found.slice(0, MAX_TOLD), `INVALID ${file}: ${more} more values are wrong, and left out`];
}

/** What goes for the sake of an invalid value. */
function targetOf(root: unknown, path: Path): Path {
  if (path[0] === "devices" && path.length > 2) return path.slice(0, 2);
  return isMissing(root, path) ? targetOf(root, path.slice(0, -1)) : path;
}

/** An order in which the removal of one moves none of those behind it. */
function lastFirst(a: Path, b: Path): number {
  const at = a.findIndex((step, n) => step !== b[n]);
  if (at < 0) return b.length - a.length;
  const [one, other] = [a[at], b[at]];
  if (typeof one === "number" && typeof other === "number") return other - one;
  return other === undefined || String(one) > String(other) ? -1 : 1;
}

/** Of the device that a path leads into: positions in a list do not say which one it is. */
function idOf(root: unknown, path: Path): string {
  if (path[0] !== "devices" || path.length < 2) return "";
  const device = holderOf(root, [...path.slice(0, 2), "id"]);
  const id = isObject(device) ? Reflect.get(device, "id") : undefined;
  return typeof id === "string" ? ` (${JSON.stringify(id.slice(0, 128))})` : "";
}

function remove(root: unknown, path: Path): boolean {
  const key = path.at(-1);
  const holder = holderOf(root, path);
  if (key === undefined || !isObject(holder)) return false;
  if (Array.isArray(holder)) return holder.splice(Number(key), 1).length > 0;
  return Reflect.deleteProperty(holder, key);
}

function isMissing(root: unknown, path: Path): boolean {
  const holder = holderOf(root, path);
  const key = path.at(-1);
  return key !== undefined && isObject(holder) && !Object.hasOwn(holder, key);
}

function holderOf(root: unknown, path: Path): unknown {
  let holder: unknown = root;
  for (const step of path.slice(0, -1)) holder = isObject(holder) ? Reflect.get(holder, step) : undefined;
  return holder;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
