/**
 * What guides the process in the folders below its own that its calls have touched: told once for each view of the
 * conversation, in a note. Each folder is asked about once, so most turns cost nothing.
 */
import { posix } from "node:path";
import type { ToolCall } from "../../abi/loop.ts";
import type { ContextMessage, Sys } from "../../abi/sys.ts";
import { nestedText, pathMark } from "./frame.ts";

/** Folders asked about at once; further ones of the same reply are left out. */
const MAX_DIRS = 32;

export class NearbyGuides {
  readonly #cwd: string;
  readonly #known = new Set<string>();
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

  /** The note to add to the conversation; "": nothing new. */
  async note(sys: Sys, messages: readonly ContextMessage[]): Promise<string> {
    // a shorter view no longer shows the notes: folders count as new when they are touched again
    if (messages.length < this.#shown) this.#known.clear();
    this.#shown = messages.length;
    if (this.#due.length === 0) return "";
    const dirs = this.#due;
    this.#due = [];
    const { instructions, notices } = await sys.nearby(dirs, sys.ending);
    for (const notice of notices) sys.log("warn", notice);
    const isTold = (path: string) =>
      messages.some(({ role, content }) => role === "user" && content.includes(pathMark(path)));
    const fresh = instructions.filter(({ path }) => !isTold(path));
    if (fresh.length > 0) sys.log("info", `instructions: ${fresh.map(({ path }) => path).join(", ")}`);
    return nestedText(fresh);
  }
}

/** The folder that a call names, or that its file is in; the working directory if it names none. */
function folderOf(input: unknown, cwd: string): string {
  if (typeof input !== "object" || input === null) return cwd;
  const { file_path: file, notebook_path: notebook, path } = input as Readonly<Record<string, unknown>>;
  const named = [file, notebook].find((each) => typeof each === "string");
  if (typeof named === "string") return posix.dirname(posix.resolve(cwd, named));
  return typeof path === "string" ? posix.resolve(cwd, path) : cwd;
}

function isBelow(cwd: string, dir: string): boolean {
  return dir !== cwd && dir.startsWith(cwd.endsWith("/") ? cwd : `${cwd}/`);
}
