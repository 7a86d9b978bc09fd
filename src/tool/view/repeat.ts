/** The same page of the same file again is told in one line. */
import type { SeenPage } from "../../abi/device.ts";
import type { FsStat } from "../../abi/fs-ops.ts";
import type { Outcome, RunContext } from "../tool.ts";
import type { Args } from "./arguments.ts";
import type { PageRange } from "./pdf.ts";

/** A mark of exactly what a repeated call would show. */
export function pageKey(args: Args, asked: PageRange | undefined, stat: FsStat): SeenPage {
  const { mtime_ns: mtimeNs, size, inode } = stat;
  const [offset, limit] = asked === undefined ? [args.offset, args.limit] : [asked.first, asked.last];
  return { offset, limit, mtimeNs, size, inode };
}

/**
 * The same page of the same file again. It is said once: who asks a third time has lost the content, and gets it.
 * Without `source: view`, as after an edit, there is no page.
 */
export function isRepeat(context: RunContext, path: string, page: SeenPage): boolean {
  const seen = context.tracker.get(path);
  if (seen?.page === undefined || (seen.epoch ?? 0) !== context.tracker.epoch) return false;
  const old = seen.page;
  const same = (Object.keys(page) as (keyof SeenPage)[]).every((key) => old[key] === page[key]);
  if (same) context.tracker.set(path, { sha256: seen.sha256, source: "view" });
  return same;
}

export function unchanged(args: Args): Outcome {
  const { file_path, offset } = args;
  return {
    text: `[unchanged since it was last viewed: ${file_path}]`,
    meta: { file_path, content: "", total_lines: null, offset, lines: 0, type: "unchanged" },
  };
}
