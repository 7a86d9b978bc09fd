/** glob: finds files by a path pattern, newest first. */
import { posix } from "node:path";
import * as z from "zod";
import type { FilesAnswer } from "../../abi/ops/fs.ts";
import { endLine } from "../budget.ts";
import { failure } from "../failure.ts";
import { fsAnswer } from "../files.ts";
import { hostPath, readEffect } from "../path.ts";
import { requireDirectory } from "../search-root.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./glob.md";

const Args = z.object({
  pattern: z.string().min(1),
  path: z.string().default(""),
  limit: z.int().min(1).max(1000).default(100),
  offset: z.int().min(0).default(0),
});
type Args = z.output<typeof Args>;

export const glob = defineTool({
  name: "glob",
  hint: "find files by name pattern",
  text,
  args: Args,
  listed: "core",
  compactable: true,
  parallel: true,
  readOnly: true,
  effects: (args, scope) => [readEffect(hostPath(placeOf(args).path, scope.cwd), true)],
  prepare: async (args, look) => {
    await requireDirectory(look, placeOf(args).path);
  },
  view: (args) => {
    const { path, glob } = placeOf(args);
    return { operation: `find files: ${glob}${path === "" ? "" : ` in ${path}`}`, params: { ...args } };
  },
  about: (args) => args.pattern,
  activity: (args) => `Finding ${args.pattern}`,
  run,
});

/** The start of a search, as the caller would write it, and the glob to match below it. */
interface Place {
  readonly path: string;
  readonly glob: string;
}

/**
 * A glob that is absolute or leads out of the directory is split before its first wildcard: `/etc/host*` becomes
 * `/host*`, anchored, in `/etc`. Any other is passed to the engine unchanged.
 */
function placeOf({ pattern, path }: Args): Place {
  if (!/^(\/|\.\.?(\/|$))/.test(pattern)) return { path, glob: pattern };
  const names = pattern.split("/");
  const wild = names.findIndex((name) => /[*?[\]{}()!\\]/.test(name));
  const fixed = names.slice(0, wild === -1 ? names.length - 1 : wild).join("/");
  const rest = names.slice(wild === -1 ? names.length - 1 : wild).join("/");
  if (pattern.startsWith("/")) return { path: fixed === "" ? "/" : fixed, glob: `/${rest}` };
  return { path: posix.join(path, fixed), glob: `/${rest}` };
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const { path: shown, glob } = placeOf(args);
  const { offset, limit } = args;
  const path = await requireDirectory(context, shown);
  const { files, total, partial } = await fsAnswer<FilesAnswer>(context, path, {
    op: "files",
    glob,
    offset,
    limit,
  });
  if (offset > 0 && offset >= total)
    throw failure("INVALID", `offset ${offset} is past the end: ${total} files`);
  const found = files.map((file) => posix.join(shown, file.path));
  const end = offset + found.length;
  const notes: string[] = [];
  if (end < total) notes.push(`[… ${total - end} more; narrow the pattern, or continue with offset=${end}]`);
  if (partial) notes.push("[the search took too long and was stopped: there may be more]");
  const text = found.length === 0 ? "No matches found" : found.join("\n");
  return {
    text: notes.length === 0 ? text : endLine(text) + notes.join("\n"),
    meta: { files: found, count: total, truncated: end < total, partial },
    facts: { count: { n: total, of: "file" } },
  };
}
