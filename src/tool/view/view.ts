/** view: a page of a text file, raw lines, ready to be quoted in an edit. */
import { createHash } from "node:crypto";
import { posix } from "node:path";
import * as z from "zod";
import type { Effect } from "../../abi/effects.ts";
import type { FsStat } from "../../abi/fs-ops.ts";
import { endLine } from "../budget.ts";
import { failure } from "../failure.ts";
import { findStat, readCruxFile, readHostFile, siblingNames } from "../files.ts";
import { hostPath, isCruxPath, isInRoots, readEffect } from "../path.ts";
import { similarNames } from "../similar.ts";
import { decodeFile } from "../text.ts";
import { defineTool, type LookContext, type Outcome, type RunContext, type Scope } from "../tool.ts";
import type { Page } from "../tracker.ts";
import { cutPage, MAX_PAGE_LINES, type TextPage } from "./page.ts";
import text from "./view.md";

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_RESULT_CHARS = 100_000;
/** Binary whatever their first bytes look like. */
const BINARY_NAMES = /\.(exe|dll|so|dylib|o|a|class|pyc|wasm|zip|gz|bz2|xz|7z|png|jpe?g|gif|webp|pdf)$/i;

const Args = z.object({
  file_path: z.string().min(1),
  offset: z.int().min(0).default(0).describe("first line, counted from 0"),
  limit: z.int().min(1).default(2000).describe("number of lines"),
});
type Args = z.output<typeof Args>;

export const view = defineTool({
  name: "view",
  hint: "read text file page of lines",
  text,
  args: Args,
  maxResultChars: MAX_RESULT_CHARS,
  overflow: "none",
  parallel: true,
  readOnly: () => true,
  effects,
  prepare: async (args, look) => {
    if (!isCruxPath(hostPath(args.file_path, look.cwd))) await inspect(args, look);
  },
  view: (args, scope) => {
    const path = hostPath(args.file_path, scope.cwd);
    const where = isCruxPath(path) || isInRoots(path, scope.roots) ? "" : " outside working directory";
    return { operation: `read file${where}: ${args.file_path}`, params: { ...args } };
  },
  activity: (args) => `Reading ${args.file_path}`,
  run,
});

/** The file; and what is looked at for a hint when it is missing. */
function effects(args: Args, scope: Scope): Effect[] {
  const path = hostPath(args.file_path, scope.cwd);
  if (isCruxPath(path)) return [readEffect(path)];
  return [readEffect(path), readEffect(hintPath(path, scope))];
}

/** Inside the roots its directory, for near names; else the same path taken as one below the working directory. */
function hintPath(path: string, scope: Scope): string {
  return isInRoots(posix.dirname(path), scope.roots) ? posix.dirname(path) : posix.join(scope.cwd, path);
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const path = hostPath(args.file_path, context.cwd);
  if (isCruxPath(path)) {
    const bytes = await readCruxFile(context, path, MAX_BYTES + 1);
    return render(args, decode(args, bytes));
  }
  const stat = await inspect(args, context);
  const page = pageKey(args, stat);
  if (isRepeat(context, path, page)) return unchanged(args);
  const bytes = await readHostFile(context, path, MAX_BYTES + 1);
  const outcome = render(args, decode(args, bytes));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  context.tracker.set(path, { sha256, source: "view", page });
  return outcome;
}

/** What must fail whatever the content is. */
async function inspect(args: Args, look: LookContext): Promise<FsStat> {
  const path = hostPath(args.file_path, look.cwd);
  const stat = await findStat(look, path);
  if (stat === undefined)
    throw failure("NOT_FOUND", `file not found: ${args.file_path}`, await nearby(path, look));
  if (stat.kind === "directory") throw failure("INVALID", `is a directory: ${args.file_path}. Use ls`);
  if (stat.kind !== "file") throw failure("INVALID", `not a regular file: ${args.file_path} (${stat.kind})`);
  if (stat.size > MAX_BYTES) throw tooLarge();
  return stat;
}

function tooLarge(): Error {
  return failure(
    "INVALID",
    "file too large (max 5MB)",
    "Use grep, or a part of it with sed -n '1,100p' in bash",
  );
}

/** Files with a like name in its directory, or the same path below the working directory. */
async function nearby(path: string, look: LookContext): Promise<string | undefined> {
  const hint = hintPath(path, look);
  if (hint !== posix.dirname(path))
    return (await findStat(look, hint)) ? `Similar: ${posix.relative(look.cwd, hint)}` : undefined;
  const names = similarNames(posix.basename(path), await siblingNames(look, path));
  if (names.length === 0) return undefined;
  return `Similar: ${names.map((name) => posix.relative(look.cwd, posix.join(hint, name))).join(", ")}`;
}

function decode(args: Args, bytes: Buffer): { text: string; exact: boolean } {
  if (bytes.byteLength > MAX_BYTES) throw tooLarge();
  const decoded = decodeFile(bytes);
  if (decoded.kind === "text" && !BINARY_NAMES.test(args.file_path)) return decoded;
  throw failure("INVALID", `binary file: ${args.file_path}`, "Only text can be viewed");
}

/** A mark of exactly what a repeated call would show. */
function pageKey(args: Args, stat: FsStat): Page {
  const { mtime_ns: mtimeNs, size, inode } = stat;
  return { offset: args.offset, limit: args.limit, mtimeNs, size, inode };
}

/**
 * The same page of the same file again. It is said once: who asks a third time has lost the content, and gets it.
 * Without `source: view`, as after an edit, there is no page.
 */
function isRepeat(context: RunContext, path: string, page: Page): boolean {
  const seen = context.tracker.get(path);
  if (seen?.page === undefined) return false;
  const old = seen.page;
  const same = (Object.keys(page) as (keyof Page)[]).every((key) => old[key] === page[key]);
  if (same) context.tracker.set(path, { sha256: seen.sha256, source: "view" });
  return same;
}

function unchanged(args: Args): Outcome {
  const { file_path, offset } = args;
  return {
    text: `[unchanged since it was last viewed: ${file_path}]`,
    meta: { file_path, content: "", total_lines: null, offset, lines: 0, type: "unchanged" },
  };
}

function render(args: Args, file: { text: string; exact: boolean }): Outcome {
  const limit = Math.min(args.limit, MAX_PAGE_LINES);
  // a byte-order mark is no part of the first line
  const page = cutPage(file.text.replace(/^\uFEFF/, ""), args.offset, limit, MAX_RESULT_CHARS - 1000);
  if (page.totalLines > 0 && args.offset >= page.totalLines)
    throw failure("INVALID", `offset ${args.offset} is past the end: ${page.totalLines} lines`);
  const { file_path, offset } = args;
  const meta = { file_path, content: page.text, total_lines: page.totalLines, offset, lines: page.lines };
  return { text: withNotes(args, page, file.exact), meta: { ...meta, type: "text" } };
}

function withNotes(args: Args, page: TextPage, exact: boolean): string {
  if (page.totalLines === 0) return "[file is empty]";
  const notes: string[] = [];
  if (args.limit > MAX_PAGE_LINES) notes.push(`[limit lowered to ${MAX_PAGE_LINES}]`);
  if (!exact && page.text.includes("\uFFFD")) notes.push("[not UTF-8: some characters are shown as \uFFFD]");
  if (page.lines < page.totalLines) notes.push(place(args.offset, page));
  return notes.length === 0 ? page.text : `${endLine(page.text)}${notes.join("\n")}`;
}

function place(offset: number, page: TextPage): string {
  const next = offset + page.lines;
  const on = next < page.totalLines ? `; continue with offset=${next}` : "";
  return `[lines ${offset}-${next - 1} of ${page.totalLines}${on}]`;
}
