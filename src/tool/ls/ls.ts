/** ls: the tree below a directory. */
import { posix } from "node:path";
import * as z from "zod";
import type { FsListing } from "../../abi/ops/fs.ts";
import { cruxNames } from "../crux-tree.ts";
import { fsAnswer } from "../files.ts";
import { hostPath, isCruxPath, readEffect } from "../path.ts";
import { requireDirectory } from "../search-root.ts";
import { defineTool, type LookContext, type Outcome, type RunContext } from "../tool.ts";
import text from "./ls.md";

const MAX_ENTRIES = 1000;

const Args = z.object({
  path: z.string().default(""),
  depth: z.int().min(1).max(10).default(3),
  ignore: z.array(z.string().min(1).max(1024)).max(100).optional().describe("globs to leave out"),
});
type Args = z.output<typeof Args>;
type Entry = FsListing["entries"][number];

export const ls = defineTool({
  name: "ls",
  hint: "list directory tree",
  text,
  args: Args,
  listed: "core",
  parallel: true,
  readOnly: true,
  effects: (args, scope) => [readEffect(hostPath(args.path, scope.cwd), true)],
  prepare: async (args, look) => {
    if (!isCruxPath(hostPath(args.path, look.cwd))) await requireDirectory(look, args.path);
  },
  view: (args) => ({
    operation: `list directory: ${args.path === "" ? "." : args.path}`,
    params: { ...args },
  }),
  about: (args) => (args.path === "" ? "." : args.path),
  activity: (args) => `Listing ${args.path === "" ? "." : args.path}`,
  run,
});

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const path = hostPath(args.path, context.cwd);
  if (isCruxPath(path)) return listCrux(context, path);
  await requireDirectory(context, args.path);
  const { depth, ignore } = args;
  const { entries, more } = await fsAnswer<FsListing>(context, path, {
    op: "list",
    depth,
    limit: MAX_ENTRIES,
    ...(ignore && { ignore }),
  });
  const files = entries.filter((entry) => entry.kind !== "directory").length;
  const facts = { count: { n: entries.length + more, of: "entry" } } as const;
  return {
    text: render(entries, more),
    meta: { path, number_of_files: files, truncated: more > 0 },
    facts,
  };
}

/** Names only, indented by two spaces per level: the lines above give the path. */
function render(entries: readonly Entry[], more: number): string {
  const lines = entries.map((entry) => {
    const level = entry.path.split("/").length - 1;
    return `${"  ".repeat(level)}${posix.basename(entry.path)}${entry.kind === "directory" ? "/" : ""}`;
  });
  if (more > 0) lines.push(`[… ${more} more; list a subdirectory]`);
  return lines.length === 0 ? "[directory is empty]" : lines.join("\n");
}

/** One level only, whatever the depth. */
async function listCrux(look: LookContext, path: string): Promise<Outcome> {
  const names = await cruxNames(look, path);
  const lines = names.slice(0, MAX_ENTRIES);
  const more = names.length - lines.length;
  if (more > 0) lines.push(`[… ${more} more]`);
  const meta = { path, number_of_files: names.length, truncated: more > 0 };
  const facts = { count: { n: names.length, of: "entry" } } as const;
  return { text: lines.length === 0 ? "[directory is empty]" : lines.join("\n"), meta, facts };
}
