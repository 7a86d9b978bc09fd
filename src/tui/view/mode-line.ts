/** The line below the editor: mode, model, how full the context is, what it cost, and what to do next. Pure. */
import { modeWord } from "../../cli/screen/chat-lines.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import { widthOf } from "../../cli/screen/text/width.ts";
import { type Line, lineWidth, type Span } from "../text/line.ts";
import type { EntryLook } from "./entry-lines.ts";
import type { Scene } from "./frame.ts";

const SEPARATOR = " · ";

export function modeLine({ model, hint, vim, size, look, dialog, editing }: Scene): Line {
  const { theme } = look;
  const words = look.words.modeLine;
  const percent = Math.round((model.context ?? 0) * 100);
  const facts: readonly (string | readonly string[])[] = [
    ...(vim === undefined ? [] : [words.vim[vim]]),
    // with a dialog open the user is waited for
    ...(model.link === "connecting" && dialog === undefined ? [words.connecting] : []),
    ...(model.model === "" ? [] : [safeLine(model.model)]),
    ...(model.context === undefined ? [] : [[words.context(percent), `${percent}%`]]),
    ...(model.target === undefined ? [] : [`${brief(model.target.spent)} / ${brief(model.target.aim)}`]),
    ...(model.costUsd === undefined ? [] : [`$${model.costUsd.toFixed(model.costUsd < 1 ? 3 : 2)}`]),
  ];
  const last = lastPart({ hint, dialog, editing }, words);
  const end: Span = { text: last.text, style: hint === "" ? theme.dim : theme.warning };
  // what is said for a moment is said at any width: the facts give way
  const room = size.columns - 1 - (last.isUrgent ? widthOf(last.text) + SEPARATOR.length : 0);
  const mode: Span = { text: `  ${modeWord(model.mode, words)}`, style: theme[model.mode] };
  if (lineWidth([mode]) > room) return [{ text: "  ", style: "" }, end];
  const spans = [mode];
  for (const texts of facts) add(spans, { texts: [texts].flat(), style: theme.dim }, room);
  add(spans, { texts: [end.text], style: end.style }, size.columns - 1);
  return spans;
}

/** `312k`, `1.5m`. */
function brief(tokens: number): string {
  return tokens < 1_000_000 ? `${Math.floor(tokens / 1_000)}k` : `${Math.floor(tokens / 100_000) / 10}m`;
}

function lastPart(
  { hint, dialog, editing: { buffer, query } }: Pick<Scene, "hint" | "dialog" | "editing">,
  words: EntryLook["words"]["modeLine"],
) {
  if (hint !== "") return { text: hint, isUrgent: true };
  if (dialog !== undefined)
    return {
      text: dialog.isSettled ? "" : words.toEditor,
      isUrgent: !dialog.isSettled,
    };
  if (query !== undefined) return { text: words.searches(safeLine(query)), isUrgent: true };
  return { text: buffer.text.startsWith("!") ? words.shell : words.hint, isUrgent: false };
}

/** The longest of the texts that fits; what does not fit is left out whole. */
function add(
  spans: Span[],
  { texts, style }: { readonly texts: readonly string[]; readonly style: string },
  room: number,
): void {
  const left = room - lineWidth(spans) - SEPARATOR.length;
  const text = texts.find((each) => each !== "" && widthOf(each) <= left);
  if (text !== undefined) spans.push({ text: `${SEPARATOR}${text}`, style });
}
