/** grep: finds lines that match a pattern, in a file or below a directory. */
import { posix } from "node:path";
import * as z from "zod";
import type { GrepAnswer, GrepRequest } from "../../abi/ops/fs.ts";
import { endLine } from "../budget.ts";
import { failure } from "../failure.ts";
import { findStat, fsAnswer, type Io } from "../files.ts";
import { hostPath, isCruxPath, readEffect } from "../path.ts";
import { requireExisting } from "../search-root.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import { searchCrux } from "./crux-search.ts";
import text from "./grep.md";
import { contentOf, countsOf, type FileHits, filesOf, type GrepHits, pathsOf, printHits } from "./hits.ts";

const MAX_WARNINGS = 10;

const Args = z.object({
  pattern: z.string().min(1),
  path: z.string().default("").describe("file or directory"),
  include: z.string().min(1).optional().describe("glob of file names"),
  mode: z.enum(["content", "files", "count"]).default("content"),
  context: z.int().min(0).max(20).default(2),
  literal: z.boolean().default(false),
  case_insensitive: z.boolean().default(false),
  multiline: z.boolean().default(false),
  type: z.string().min(1).optional().describe("such as ts, py"),
  no_ignore: z.boolean().default(false),
  head_limit: z.int().min(1).max(2000).default(250),
  offset: z.int().min(0).default(0),
});
type Args = z.output<typeof Args>;

export const grep = defineTool({
  name: "grep",
  hint: "search file contents with regular expression",
  text,
  args: Args,
  listed: "core",
  compactable: true,
  parallel: true,
  readOnly: true,
  effects: (args, scope) => [readEffect(hostPath(args.path, scope.cwd), true)],
  prepare: async (args, look) => {
    if (!isCruxPath(hostPath(args.path, look.cwd))) await requireExisting(look, args.path);
  },
  view: (args) => ({
    operation: `search for ${JSON.stringify(args.pattern)}${args.path === "" ? "" : ` in ${args.path}`}`,
    params: { pattern: args.pattern, path: args.path, include: args.include },
  }),
  about: (args) => args.pattern,
  activity: (args) => `Searching ${args.pattern}`,
  run,
});

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const path = hostPath(args.path, context.cwd);
  if (isCruxPath(path)) return foundInCrux(args, context, path);
  const { kind } = await requireExisting(context, args.path);
  const isDirectory = kind === "directory";
  const answer = await fsAnswer<GrepAnswer>(context, path, requestOf(args));
  const warnings = check(answer);
  const hits = await foundIn(args, answer.stdout, {
    show: (found) => (isDirectory ? posix.join(args.path, found) : args.path),
    order: async (paths) => (isDirectory ? newestFirst(context, path, paths) : paths),
  });
  return render(args, { hits, warnings, notes: [], partial: answer.partial });
}

/** How files below the search root are displayed and ordered. */
interface Telling {
  show(path: string): string;
  order(paths: readonly string[]): Promise<readonly string[]>;
}

async function foundIn(args: Args, stdout: string, { show, order }: Telling): Promise<GrepHits> {
  switch (args.mode) {
    case "content":
      return contentOf(stdout, show, args.context > 0);
    case "count":
      return countsOf(stdout, show);
    case "files":
      return filesOf(await order(pathsOf(stdout)), show);
  }
}

function requestOf(args: Args): GrepRequest {
  return {
    op: "grep",
    pattern: args.pattern,
    output: args.mode,
    context: args.context,
    literal: args.literal,
    case_insensitive: args.case_insensitive,
    multiline: args.multiline,
    no_ignore: args.no_ignore,
    ...(args.include !== undefined && { include: args.include }),
    ...(args.type !== undefined && { type: args.type }),
  };
}

/** ripgrep's complaints beside its hits. A complaint without hits is a failure; having no hits is not. */
function check(answer: GrepAnswer): string[] {
  const complaints = answer.stderr.split("\n").filter((line) => line.trim() !== "");
  if (answer.stdout !== "") return answer.exit_code === 2 ? complaints.slice(0, MAX_WARNINGS) : [];
  if (answer.partial)
    throw failure("TIMEOUT", "the search took too long", "Name a smaller directory or an include");
  if (answer.exit_code === 0 || answer.exit_code === 1) return [];
  const message = complaints.slice(0, MAX_WARNINGS).join("\n") || `the search failed (${answer.exit_code})`;
  const isPattern = message.includes("regex");
  throw failure(
    "INVALID",
    message,
    isPattern ? "To search for the text itself use literal: true" : undefined,
  );
}

async function foundInCrux(args: Args, context: RunContext, path: string): Promise<Outcome> {
  const { pattern, literal, case_insensitive: ignoreCase } = args;
  const wanted = { pattern, literal, ignoreCase, context: args.context };
  const { hits, notes } = await searchCrux(context, { path, shown: args.path }, wanted);
  return render(args, { hits: inMode(args, hits), warnings: [], notes, partial: false });
}

function inMode({ mode, context }: Args, hits: readonly FileHits[]): GrepHits {
  const found = printHits(hits, (shown) => shown, context > 0);
  if (mode === "content") return found;
  const counts = new Map<string, number>();
  for (const { path } of found.matches.values()) counts.set(path, (counts.get(path) ?? 0) + 1);
  if (mode === "files") return filesOf([...counts.keys()], (shown) => shown);
  const lines = [...counts].map(([path, count]) => `${path}:${count}`);
  return { lines, groups: new Set(), matches: new Map(), count: found.count };
}

interface Found {
  readonly hits: GrepHits;
  /** ripgrep's complaints. */
  readonly warnings: readonly string[];
  /** Files that were not searched. */
  readonly notes: readonly string[];
  /** The search was cut off. */
  readonly partial: boolean;
}

function render(args: Args, { hits: found, warnings, notes: more, partial }: Found): Outcome {
  const total = found.lines.length;
  const end = Math.min(total, args.offset + args.head_limit);
  if (total > 0 && args.offset >= total)
    throw failure("INVALID", `offset ${args.offset} is past the end: ${total} lines`);
  const notes = [...warnings];
  if (end - args.offset < total) {
    const on = end < total ? `; continue with offset=${end}` : "";
    notes.push(`[lines ${args.offset}-${end - 1} of ${total}${on}]`);
  }
  notes.push(...more);
  if (partial) notes.push("[the search took too long and was stopped: there may be more]");
  const shown = total === 0 ? "No matches found" : printed(found, args.offset, end);
  const matches = [...found.matches]
    .filter(([at]) => at >= args.offset && at < end)
    .map(([, match]) => match);
  const meta = { matches, count: found.count, pattern: args.pattern, truncated: end < total, partial };
  return {
    text: notes.length === 0 ? shown : endLine(shown) + notes.join("\n"),
    facts: { count: { n: found.count, of: args.mode === "files" ? "file" : "match" } },
    meta: warnings.length === 0 ? meta : { ...meta, warnings },
  };
}

function printed({ lines, groups }: GrepHits, from: number, end: number): string {
  const apart = (line: string, at: number) => (at > 0 && groups.has(from + at) ? `--\n${line}` : line);
  return lines.slice(from, end).map(apart).join("\n");
}

/** Files beyond this stay in order of name: one stat costs as much as reading the file. */
const MAX_LOOKS = 1000;
const AT_ONCE = 16;

/** Newest modification first; equal times: by name. `paths` are relative to `root`. */
async function newestFirst(io: Io, root: string, paths: readonly string[]): Promise<string[]> {
  const looked: { path: string; at: bigint }[] = [];
  const first = paths.slice(0, MAX_LOOKS);
  for (let i = 0; i < first.length; i += AT_ONCE) {
    const batch = first
      .slice(i, i + AT_ONCE)
      .map(async (path) => ({ path, at: await modified(io, root, path) }));
    looked.push(...(await Promise.all(batch)));
  }
  looked.sort((a, b) => (a.at === b.at ? (a.path < b.path ? -1 : 1) : a.at < b.at ? 1 : -1));
  return [...looked.map((file) => file.path), ...paths.slice(MAX_LOOKS)];
}

async function modified(io: Io, root: string, path: string): Promise<bigint> {
  const stat = await findStat(io, posix.join(root, path));
  return BigInt(stat?.mtimeNs ?? 0);
}
