/** What one call was asked, and what came of it: arguments, the diff of an edit, the output. */
import { structuredPatch } from "diff";
import { safeLines } from "../../cli/screen/text/safe-text.ts";
import type { CallEntry } from "../state/model.ts";
import { type Line, wrapped } from "../text/line.ts";
import type { Theme } from "../text/theme.ts";

interface Place {
  readonly theme: Theme;
  readonly width: number;
}

/** The most lines of one part; the rest is counted. */
const MOST_LINES = 400;
/** The pairs of arguments that are the text before and after an edit. */
const EDITS = [["old_string", "new_string"] as const, ["old_text", "new_text"] as const];

export function detailLines({ input, result }: CallEntry, place: Place): Line[] {
  const { theme } = place;
  const given = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
  const pair = EDITS.find(
    ([before, after]) => typeof given[before] === "string" && typeof given[after] === "string",
  );
  const others = Object.entries(given).filter(([key]) => !(pair ?? []).includes(key as never));
  const argued = others.flatMap(([key, value]) =>
    block(`${key}: ${typeof value === "string" ? value : (JSON.stringify(value) ?? "")}`, place, theme.dim),
  );
  const diff = pair === undefined ? [] : diffLines(String(given[pair[0]]), String(given[pair[1]]), place);
  const output = result === undefined || result.trim() === "" ? [] : block(result.trimEnd(), place, "");
  return [...argued, ...diff, ...output];
}

/** With marks, so that colours are not needed. */
function diffLines(before: string, after: string, place: Place): Line[] {
  const { theme } = place;
  const { hunks } = structuredPatch("", "", before, after, "", "", { context: 3 });
  return hunks.flatMap(({ lines }) =>
    lines
      .filter((line) => !line.startsWith("\\"))
      .flatMap((line) =>
        block(
          line,
          place,
          line.startsWith("+") ? theme.diffAdd : line.startsWith("-") ? theme.diffRemove : theme.dim,
        ),
      ),
  );
}

function block(text: string, { width, theme }: Place, style: string): Line[] {
  const all = safeLines(text).replaceAll("\t", "    ").split("\n");
  const shown = all.slice(0, MOST_LINES);
  const rest = all.length - shown.length;
  const more: Line[] = rest === 0 ? [] : [[{ text: `  │ … ${rest} lines more …`, style: theme.dim }]];
  return [
    ...shown.flatMap((line) =>
      wrapped([{ text: line, style }], Math.max(8, width - 4)).map(
        (part): Line => [{ text: "  │ ", style: theme.border }, ...part],
      ),
    ),
    ...more,
  ];
}
