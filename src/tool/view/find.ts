/** Finds the file that is meant, and reports errors that do not depend on its content. */
import { posix } from "node:path";
import { failure } from "../failure.ts";
import { findStat, type HostFile, siblingNames } from "../files.ts";
import { hostPath, isInRoots } from "../path.ts";
import { similarNames } from "../similar.ts";
import type { LookContext, Scope } from "../tool.ts";
import type { Args } from "./arguments.ts";
import { parsePages } from "./pdf.ts";

export const MAX_BYTES = 5 * 1024 * 1024;
const MAX_PDF_BYTES = 20 * 1024 * 1024;

/** Throws for what must fail whatever the content is. */
export async function inspect(args: Args, look: LookContext): Promise<{ stat: HostFile; path: string }> {
  const { stat, path } = await findFile(hostPath(args.file_path, look.cwd), look);
  if (stat === undefined)
    throw failure("NOT_FOUND", `file not found: ${args.file_path}`, await nearby(path, look));
  if (stat.kind === "directory") throw failure("INVALID", `is a directory: ${args.file_path}. Use ls`);
  if (stat.kind !== "file") throw failure("INVALID", `not a regular file: ${args.file_path} (${stat.kind})`);
  if (stat.size > maxBytesOf(path)) throw tooLarge(path);
  if (args.pages !== undefined) parsePages(args.pages);
  return { stat, path };
}

async function findFile(
  path: string,
  look: LookContext,
): Promise<{ stat: HostFile | undefined; path: string }> {
  const stat = await findStat(look, path);
  const twin = stat === undefined ? twinOf(path) : undefined;
  if (twin === undefined) return { stat, path };
  const other = await findStat(look, twin);
  return other === undefined ? { stat, path } : { stat: other, path: twin };
}

/**
 * macOS puts a narrow no-break space before AM and PM in names of screenshots; on screen it looks like any other space.
 */
export function twinOf(path: string): string | undefined {
  const name = posix.basename(path);
  const other = name.replace(/[ \u202f](?=[AP]M\b)/g, (space) => (space === " " ? "\u202f" : " "));
  return other === name ? undefined : posix.join(posix.dirname(path), other);
}

export function tooLarge(path: string): Error {
  if (maxBytesOf(path) === MAX_PDF_BYTES) return failure("INVALID", "PDF too large (max 20 MiB)");
  return failure(
    "INVALID",
    "file too large (max 5MB)",
    "Use grep, or a part of it with sed -n '1,100p' in bash",
  );
}

/** A hint: files with a similar name in its directory, or the same path below the working directory. */
async function nearby(path: string, look: LookContext): Promise<string | undefined> {
  const hint = hintPath(path, look);
  if (hint !== posix.dirname(path))
    return (await findStat(look, hint)) ? `Similar: ${posix.relative(look.cwd, hint)}` : undefined;
  const names = similarNames(posix.basename(path), await siblingNames(look, path));
  if (names.length === 0) return undefined;
  return `Similar: ${names.map((name) => posix.relative(look.cwd, posix.join(hint, name))).join(", ")}`;
}

/** Inside the roots its directory, for similar names; otherwise the same path below the working directory. */
export function hintPath(path: string, scope: Scope): string {
  return isInRoots(posix.dirname(path), scope.roots) ? posix.dirname(path) : posix.join(scope.cwd, path);
}

export function maxBytesOf(path: string): number {
  return /\.pdf$/i.test(path) ? MAX_PDF_BYTES : MAX_BYTES;
}
