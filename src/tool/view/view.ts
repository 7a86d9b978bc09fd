/** view: a page of a text file as raw lines, ready to be quoted in an edit; images, PDF files, notebooks by cells. */
import { createHash } from "node:crypto";
import type { SeenPage } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import { cruxFile } from "../crux-tree.ts";
import { failure } from "../failure.ts";
import { type HostFile, readWholeFile } from "../files.ts";
import { hostPath, isCruxPath, isInRoots, readEffect } from "../path.ts";
import { defineTool, type Outcome, type RunContext, type Scope } from "../tool.ts";
import { Args, Meta } from "./arguments.ts";
import { hintPath, inspect, MAX_BYTES, maxBytesOf, tooLarge, twinOf } from "./find.ts";
import { parsePages } from "./pdf.ts";
import { isPdf, MAX_RESULT_CHARS, show, type ViewArgs } from "./show.ts";
import text from "./view.md";

export const view = defineTool({
  name: "view",
  hint: "read text file page of lines",
  text,
  args: Args,
  meta: Meta,
  listed: "core",
  compactable: true,
  maxResultChars: MAX_RESULT_CHARS,
  overflow: "none",
  parallel: true,
  readOnly: true,
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
  paths: (args) => [args.file_path],
  collapse: () => true,
  run,
});

/** Reads the file, and the paths needed for a hint if it is missing. */
function effects(args: Args, scope: Scope): Effect[] {
  const path = hostPath(args.file_path, scope.cwd);
  if (isCruxPath(path)) return [readEffect(path)];
  const twin = twinOf(path);
  const twins = twin === undefined ? [] : [readEffect(twin)];
  return [readEffect(path), ...twins, readEffect(hintPath(path, scope))];
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const asked = { ...args, pages: args.pages === undefined ? undefined : parsePages(args.pages) };
  const path = hostPath(args.file_path, context.cwd);
  if (isCruxPath(path)) return showCrux(asked, path, context);
  const { stat, path: at } = await inspect(args, context);
  const page = pageKey(asked, stat);
  if (isRepeat(context, at, page)) return unchanged(args);
  const limit = maxBytesOf(at);
  const bytes = await readWholeFile(context, at, limit + 1);
  if (bytes.byteLength > limit) throw tooLarge(at);
  const outcome = await show(asked, { path: at, bytes }, context);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  // images and documents may be dropped from later requests, so they are shown again whenever requested
  const seen = { sha256, source: "view", epoch: context.tracker.epoch } as const;
  context.tracker.set(at, outcome.media === undefined ? { ...seen, page } : seen);
  return outcome;
}

async function showCrux(asked: ViewArgs, path: string, context: RunContext): Promise<Outcome> {
  const bytes = await cruxFile(context, path, MAX_BYTES + 1);
  if (bytes.byteLength > MAX_BYTES) throw tooLarge(path);
  if (!isPdf(bytes)) return show(asked, { path, bytes }, context);
  throw failure(
    "UNAVAILABLE",
    `PDF files are read from the disk only: ${asked.file_path}`,
    "Copy it with bash, and view the copy",
  );
}

/** Identifies exactly what a repeated call would show. */
function pageKey({ pages, ...args }: ViewArgs, stat: HostFile): SeenPage {
  const { mtimeNs, size, inode } = stat;
  const [offset, limit] = pages === undefined ? [args.offset, args.limit] : [pages.first, pages.last];
  return { offset, limit, mtimeNs, size, inode };
}

/**
 * Whether the same page of the same file was already shown. That is reported once: a third call gets the content again,
 * because the model seems to have lost it. Without `source: view`, as after an edit, there is no page.
 */
function isRepeat(context: RunContext, path: string, page: SeenPage): boolean {
  const seen = context.tracker.get(path);
  if (seen?.page === undefined || (seen.epoch ?? 0) !== context.tracker.epoch) return false;
  const old = seen.page;
  const same = (Object.keys(page) as (keyof SeenPage)[]).every((key) => old[key] === page[key]);
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
