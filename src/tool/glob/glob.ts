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
  effects: (args, scope) => [readEffect(hostPath(args.path, scope.cwd), true)],
  prepare: async (args, look) => {
    await requireDirectory(look, args.path);
  },
  view: (args) => ({ operation: `find files: ${args.pattern}${placeOf(args)}`, params: { ...args } }),
  activity: (args) => `Finding ${args.pattern}`,
  run,
});

function placeOf(args: Args): string {
  return args.path === "" ? "" : ` in ${args.path}`;
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const path = await requireDirectory(context, args.path);
  const { pattern, limit } = args;
  const answer = await fsAnswer<FilesAnswer>(context, path, { op: "files", glob: pattern, limit });
  const files = answer.files.map((file) => posix.join(args.path, file.path));
  const meta = {
    files,
    count: files.length + answer.more,
    truncated: answer.more > 0,
    partial: answer.partial,
  };
  return { text: render(files, answer), meta };
}

function render(files: readonly string[], answer: FilesAnswer): string {
  const notes: string[] = [];
  if (answer.more > 0) notes.push(`[… ${answer.more} more; narrow the pattern]`);
  if (answer.partial) notes.push("[the search took too long and was stopped: there may be more]");
  const found = files.length === 0 ? "No matches found" : files.join("\n");
  return notes.length === 0 ? found : endLine(found) + notes.join("\n");
}
