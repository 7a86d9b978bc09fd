/** What one call was asked, and what came of it: arguments, the diff of an edit, the output. */
import { type StructuredPatchHunk, structuredPatch } from "diff";
import { safeLines } from "../../cli/screen/text/safe-text.ts";
import type { CallEntry } from "../state/model.ts";
import { colouredLine, type Line, textOf, wrapped } from "../text/line.ts";
import type { EntryLook } from "./entry-lines.ts";

type Place = Pick<EntryLook, "theme" | "width" | "highlight" | "words">;

type Pair = readonly [old: string, made: string];

/** The most lines of one part; the rest is counted. */
const MOST_LINES = 400;
/** The pairs of arguments that are the text before and after an edit. */
const EDITS = [["old_string", "new_string"] as const, ["old_text", "new_text"] as const];

export function detailLines({ input, result, printed }: CallEntry, place: Place): Line[] {
  const { theme } = place;
  const given = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
  const { pairs, keys } = editsIn(given);
  const others = Object.entries(given).filter(([key]) => !keys.includes(key));
  const language = languageOf(given.file_path ?? given.path);
  const argued = others.flatMap(([key, value]) => {
    const text = `${key}: ${typeof value === "string" ? value : (JSON.stringify(value) ?? "")}`;
    const isCode = key === "content" && typeof value === "string";
    return isCode ? contentLines(value, language, place) : block(text, place, theme.dim);
  });
  const diff = pairs.flatMap((pair) => diffLines(pair, language, place));
  const text = result ?? printedRows(printed?.text ?? "").join("\n");
  const output =
    text.trim() === "" ? [] : block(text.trimEnd(), place, result === undefined ? theme.dim : "");
  return [...argued, ...diff, ...output];
}

/** Of a row that a program has written over, the last state; no blank ones at the end. */
export function printedRows(text: string): readonly string[] {
  const rows = text.trimEnd().split("\n");
  return rows.map((row) =>
    textOf(colouredLine((row.trimEnd().split("\r").at(-1) ?? "").replaceAll("\t", "    "))),
  );
}

type Given = Readonly<Record<string, unknown>>;

/** The texts before and after each edit of the call, and the arguments that have them. */
function editsIn(given: Given): { readonly pairs: readonly Pair[]; readonly keys: readonly string[] } {
  const { edits } = given;
  const many = Array.isArray(edits) ? edits.map((each) => pairIn((each ?? {}) as Given)) : [];
  const all = many.filter((each) => each !== undefined);
  if (all.length > 0 && all.length === many.length)
    return { pairs: all.map(({ pair }) => pair), keys: ["edits"] };
  const one = pairIn(given);
  return one === undefined ? { pairs: [], keys: [] } : { pairs: [one.pair], keys: one.keys };
}

function pairIn(given: Given): { readonly pair: Pair; readonly keys: readonly string[] } | undefined {
  for (const keys of EDITS) {
    const [before, after] = [given[keys[0]], given[keys[1]]];
    if (typeof before === "string" && typeof after === "string") return { pair: [before, after], keys };
  }
  return undefined;
}

/** The ending of the name of a file, or its name: what a language is known by. */
function languageOf(path: unknown): string {
  const name = typeof path === "string" ? (path.split("/").at(-1) ?? "") : "";
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}

function contentLines(content: string, language: string, place: Place): Line[] {
  const head: Line = [{ text: "content:", style: place.theme.dim }];
  const plain = shownText(content).split("\n");
  const lines = coloured(shownText(content), language, place);
  return boxed(
    [head, ...plain.map((text, at): Line => lines[at] ?? [{ text, style: place.theme.dim }])],
    place,
  );
}

/** With marks, so that colours are not needed. What is not coloured as a token has the colour of the change. */
function diffLines([old, made]: Pair, language: string, place: Place): Line[] {
  const [before, after] = [shownText(old), shownText(made)];
  const { hunks } = structuredPatch("", "", before, after, "", "", { context: 3 });
  const sides = { old: coloured(before, language, place), made: coloured(after, language, place) };
  return boxed(
    hunks.flatMap((hunk) => hunkLines(hunk, sides, place)),
    place,
  );
}

function hunkLines(
  { lines, oldStart, newStart }: StructuredPatchHunk,
  { old, made }: { readonly old: readonly Line[]; readonly made: readonly Line[] },
  { theme }: Place,
): Line[] {
  let [oldAt, newAt] = [oldStart - 1, newStart - 1];
  return lines.flatMap((line): Line[] => {
    const [mark = "", text] = [line[0], line.slice(1)];
    if (mark === "\\") return [];
    const style = mark === "+" ? theme.diffAdd : mark === "-" ? theme.diffRemove : theme.dim;
    const tokens = mark === "-" ? old[oldAt] : made[newAt];
    if (mark !== "+") oldAt++;
    if (mark !== "-") newAt++;
    const body = tokens?.map((token) => (token.style === "" ? { ...token, style } : token));
    return [[{ text: mark, style }, ...(body ?? [{ text, style }])]];
  });
}

/** None where the language is not known. */
function coloured(text: string, language: string, { highlight, theme }: Place): readonly Line[] {
  return highlight?.(text, language, theme) ?? [];
}

function shownText(text: string): string {
  return safeLines(text).replaceAll("\t", "    ");
}

function block(text: string, place: Place, style: string): Line[] {
  const lines = shownText(text).split("\n");
  return boxed(
    lines.map((line): Line => [{ text: line, style }]),
    place,
  );
}

function boxed(all: readonly Line[], { width, theme, words }: Place): Line[] {
  const shown = all.slice(0, MOST_LINES);
  const rest = all.length - shown.length;
  const more: Line[] = rest === 0 ? [] : [[{ text: `  │ ${words.ask.linesMore(rest)}`, style: theme.dim }]];
  return [
    ...shown.flatMap((line) =>
      wrapped(line, Math.max(8, width - 4)).map(
        (part): Line => [{ text: "  │ ", style: theme.border }, ...part],
      ),
    ),
    ...more,
  ];
}
