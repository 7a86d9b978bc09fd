/** Access to agent and skill files. Boot implements the port; user space does not open host files itself. */
import { Fault } from "../../abi/errors.ts";
import { isWithin } from "../../lib/path.ts";

/** Paths are absolute. Errors carry the host's code: ENOENT, ENOTDIR, EACCES … */
export interface AgentFiles {
  readText(path: string): Promise<string>;
  /** The names in a directory, without `.` and `..`. */
  list(dir: string): Promise<string[]>;
  /** The path with `..` and symlinks resolved. */
  realPath(path: string): Promise<string>;
}

/** The limit of a definition file; a larger one is refused. */
export const MAX_FILE_BYTES = 256 * 1024;

/** A place that may not be looked at holds nothing for who asks. */
const ABSENT: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "EACCES"]);

/** Undefined if it does not exist, or may not be looked at. Other failures are rethrown unchanged. */
export async function ifThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof Error && "code" in error && ABSENT.has(error.code)) return undefined;
    throw error;
  }
}

/**
 * The text of a file that must be inside `base`, a resolved path: links out of it are refused. Undefined: it does not
 * exist. `kind` is used in error messages.
 */
export async function readInside(
  files: AgentFiles,
  base: string,
  path: string,
  kind: "agent" | "skill",
): Promise<string | undefined> {
  const real = await ifThere(files.realPath(path));
  if (real === undefined) return undefined;
  if (!isWithin(base, real)) throw escapes(kind);
  const text = await ifThere(files.readText(real).catch((error) => Promise.reject(unreadable(error))));
  if (text === undefined || new TextEncoder().encode(text).byteLength <= MAX_FILE_BYTES) return text;
  throw new Fault({ code: "INVALID", message: `${path}: larger than ${MAX_FILE_BYTES / 1024} KiB` });
}

/** What is there and may not be read is told. */
function unreadable(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "EACCES") return error;
  return new Fault({ code: "PERMISSION", message: error.message, cause: error });
}

export function escapes(kind: "agent" | "skill"): Fault {
  return new Fault({ code: "INVALID", message: `${kind} path escapes its directory` });
}

/** A name is a single path segment. Case is handled by the functions that compare names. */
export function checkName(kind: "agent" | "skill", name: string): void {
  if (/[/\\\0]/.test(name) || name === "." || name === "..") throw escapes(kind);
  if (isName(name)) return;
  const shown = JSON.stringify(name.slice(0, 80));
  throw new Fault({
    code: "INVALID",
    message: `not ${kind === "agent" ? "an agent" : "a skill"} name: ${shown}`,
    hint: "letters, digits, dot, dash and underscore, at most 64, beginning with a letter or digit",
  });
}

export function isName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name);
}
