/** ls: the tree below a directory. */
import { posix } from "node:path";
import * as z from "zod";
import type { FsListing } from "../../abi/fs-ops.ts";
import { failure } from "../failure.ts";
import { fsAnswer, readCruxFile } from "../files.ts";
import { hostPath, isCruxPath, readEffect } from "../path.ts";
import { requireDirectory } from "../search-root.ts";
import { defineTool, type LookContext, type Outcome, type RunContext } from "../tool.ts";
import text from "./ls.md";

const MAX_ENTRIES = 1000;
const MAX_LIST_BYTES = 256 * 1024;

const Args = z.object({
  path: z.string().default("").describe("directory"),
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
  if (isCruxPath(path)) return listCrux(args, context, path);
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

/** Names only, two spaces a level: a path is read from the lines above. */
function render(entries: readonly Entry[], more: number): string {
  const lines = entries.map((entry) => {
    const level = entry.path.split("/").length - 1;
    return `${"  ".repeat(level)}${posix.basename(entry.path)}${entry.kind === "directory" ? "/" : ""}`;
  });
  if (more > 0) lines.push(`[… ${more} more; list a subdirectory]`);
  return lines.length === 0 ? "[directory is empty]" : lines.join("\n");
}

/** A directory of Crux reads as a JSON list: of pids, or of files with their names. */
async function listCrux(args: Args, look: LookContext, path: string): Promise<Outcome> {
  const bytes = await readCruxFile(look, path, MAX_LIST_BYTES);
  const names = parseNames(bytes.toString("utf8"));
  if (names === undefined) throw failure("INVALID", `not a directory: ${args.path}`, "Use view to read it");
  const meta = { path, number_of_files: names.length, truncated: false };
  const facts = { count: { n: names.length, of: "entry" } } as const;
  return { text: names.length === 0 ? "[directory is empty]" : names.join("\n"), meta, facts };
}

function parseNames(json: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) ? value.map(nameOf) : undefined;
  } catch {
    return undefined;
  }
}

function nameOf(item: unknown): string {
  return typeof item === "object" && item !== null && "name" in item ? String(item.name) : String(item);
}
