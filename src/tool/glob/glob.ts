/** glob: files by the pattern of their path, newest first. */
import { posix } from "node:path";
import * as z from "zod";
import type { FilesAnswer } from "../../abi/fs-ops.ts";
import { endLine } from "../budget.ts";
import { fsAnswer } from "../files.ts";
import { hostPath, readEffect } from "../path.ts";
import { requireDirectory } from "../search-root.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./glob.md";

const Args = z.object({
  pattern: z.string().min(1).describe("such as src/**/*.ts"),
  path: z.string().default("").describe("directory to search"),
  limit: z.int().min(1).max(1000).default(100),
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

/** Where a search begins, as the caller would write it, and the glob of what is meant below. */
interface Place {
  readonly path: string;
  readonly glob: string;
}

/**
 * A glob that is absolute, or leads out of the directory, is split where its first wildcard is: `/etc/host*` is `/host*`, held to
 * its beginning, in `/etc`. Any other is the engine's alone.
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
  const path = await requireDirectory(context, shown);
  const request = { op: "files", glob, limit: args.limit } as const;
  const answer = await fsAnswer<FilesAnswer>(context, path, request);
  const files = answer.files.map((file) => posix.join(shown, file.path));
  const meta = {
    files,
    count: files.length + answer.more,
    truncated: answer.more > 0,
    partial: answer.partial,
  };
  return { text: render(files, answer), meta, facts: { count: { n: meta.count, of: "file" } } };
}

function render(files: readonly string[], answer: FilesAnswer): string {
  const notes: string[] = [];
  if (answer.more > 0) notes.push(`[… ${answer.more} more; narrow the pattern]`);
  if (answer.partial) notes.push("[the search took too long and was stopped: there may be more]");
  const found = files.length === 0 ? "No matches found" : files.join("\n");
  return notes.length === 0 ? found : endLine(found) + notes.join("\n");
}
