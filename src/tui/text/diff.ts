/** `/diff`: the files that the tools of the session have changed since it began, read from the way back to there. */
import type { Result } from "../../abi/methods/methods.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import { shownPath } from "../../cli/screen/text/shown-path.ts";
import { padToWidth, widthOf } from "../../cli/screen/text/width.ts";
import type { Phrases } from "../../cli/screen/words/en.ts";

type Back = Result<"process.rewind">;

/** Nothing is changed by it. */
export const WAY_BACK = { at: { step: 0 }, files: true, fork: false, dry_run: true } as const;

export function diffLines(back: Back, cwd: string, { diff, rewind }: Phrases): readonly string[] {
  const { command_count: count, commands } = back;
  const columns = Math.max(...Object.values(diff.deeds).map(widthOf));
  const files = back.files.flatMap(({ path, deed, insertions, deletions }) => {
    if (deed === "unchanged") return [];
    // what the way back would take out is what came in
    const lines = `${deletions > 0 ? ` +${deletions}` : ""}${insertions > 0 ? ` -${insertions}` : ""}`;
    return [`${padToWidth(diff.deeds[deed], columns)}  ${shownPath(path, cwd)}${lines}`];
  });
  const named = new Set(commands.map(safeLine));
  const more = count > commands.length ? [rewind.andMore(count - commands.length)] : [];
  return [
    ...(files.length === 0 ? [diff.none] : files),
    ...(count === 0 ? [] : [diff.commands([...named, ...more].join("; "))]),
  ];
}
