/** The user's settings.json. What is wrong in it is told and left out; the rest counts. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../abi/errors.ts";
import { Settings } from "../abi/settings.ts";

const MAX_BYTES = 1024 * 1024;
/** Wrong places told one by one; a file with more is not read. */
const MAX_PROBLEMS = 50;

export interface ReadSettings {
  readonly settings: Settings;
  /** One line each: file, path of the key, what is wrong. */
  readonly problems: readonly string[];
}

/** A missing file is empty. Never throws. */
export function readSettings(configDir: string): ReadSettings {
  const file = join(configDir, "settings.json");
  try {
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) return { settings: {}, problems: [] };
    if (size > MAX_BYTES) throw new Error(`over ${MAX_BYTES} bytes`);
    return parseSettings(JSON.parse(readFileSync(file, "utf8")), file);
  } catch (error) {
    return { settings: {}, problems: [`INVALID ${file}: ${messageOf(error)}`] };
  }
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
