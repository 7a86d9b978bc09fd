/**
 * What guides the process in the folders below its own that its calls have touched: told once for each view of the
 * conversation, in a note. Each folder is asked about once, so most turns cost nothing.
 */
import { posix } from "node:path";
import type { ToolCall } from "../../abi/loop.ts";
import type { SkillLine } from "../../abi/skill.ts";
import type { ContextMessage, Sys } from "../../abi/sys.ts";
import { LateSet } from "../../lib/maps/late.ts";
import { nestedText, pathMark } from "./frame.ts";

/** Folders asked about at once; further ones of the same reply are left out. */
const MAX_DIRS = 32;

export class NearbyGuides {
  readonly #cwd: string;
  readonly #known = new LateSet<string>();
  #due: string[] = [];
  #shown = 0;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  touched(calls: readonly Pick<ToolCall, "input">[]): void {
    for (const { input } of calls) {
      const dir = folderOf(input, this.#cwd);
      if (!isBelow(this.#cwd, dir) || this.#known.has(dir) || this.#due.length >= MAX_DIRS) continue;
      this.#due.push(dir);
      for (let at = dir; isBelow(this.#cwd, at); at = posix.dirname(at)) this.#known.add(at);
    }
  }

  /** The note to add to the conversation, "": nothing new, and the skills of these folders. */
  async look(
    sys: Sys,
    messages: readonly ContextMessage[],
  ): Promise<{ readonly note: string; readonly skills: readonly SkillLine[] }> {
    // a shorter view no longer shows the notes: folders count as new when they are touched again
    if (messages.length < this.#shown) this.#known.clear();
    this.#shown = messages.length;
    if (this.#due.length === 0) return { note: "", skills: [] };
    const dirs = this.#due;
    this.#due = [];
    const { instructions, notices, skills = [] } = await sys.nearby(dirs, sys.ending);
    for (const notice of notices) sys.log("warn", notice);
    const isTold = (path: string) =>
      messages.some(({ role, content }) => role === "user" && content.includes(pathMark(path)));
    const fresh = instructions.filter(({ path }) => !isTold(path));
    if (fresh.length > 0) sys.log("info", `instructions: ${fresh.map(({ path }) => path).join(", ")}`);
    return { note: nestedText(fresh), skills };
  }
}

/** The folder that a call names, or that its file is in; the working directory if it names none. */
function folderOf(input: unknown, cwd: string): string {
  const { file, folder } = placesIn(input);
  if (file !== undefined) return posix.dirname(posix.resolve(cwd, file));
  return folder === undefined ? cwd : posix.resolve(cwd, folder);
}

/** The file or folder that a call names, absolute; empty: none. */
export function pathsOf(input: unknown, cwd: string): readonly string[] {
  const { file, folder } = placesIn(input);
  return [file, folder].flatMap((path) => (path === undefined ? [] : [posix.resolve(cwd, path)])).slice(0, 1);
}

function placesIn(input: unknown): { readonly file?: string; readonly folder?: string } {
  if (typeof input !== "object" || input === null) return {};
  const { file_path, notebook_path, path } = input as Readonly<Record<string, unknown>>;
  const file = [file_path, notebook_path].find((each) => typeof each === "string");
  return {
    ...(typeof file === "string" ? { file } : {}),
    ...(typeof path === "string" ? { folder: path } : {}),
  };
}

function isBelow(cwd: string, dir: string): boolean {
  return dir !== cwd && dir.startsWith(cwd.endsWith("/") ? cwd : `${cwd}/`);
}
