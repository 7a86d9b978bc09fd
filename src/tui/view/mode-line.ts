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
    ...(model.model === "" ? [] : [namesOf(safeLine(model.model))]),
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
  const all = facts.map((texts) => [texts].flat());
  for (const [n, texts] of all.entries()) {
    // a shorter text rather than that a later fact, the last ones first, is left out
    const rests = all.slice(n + 1).map((_, at, later) => leastOf(later.slice(0, later.length - at)));
    const rest = [...rests, 0].find((each) => fits(spans, texts.at(-1) ?? "", room - each));
    add(spans, { texts, style: theme.dim }, room - (rest ?? 0));
  }
  add(spans, { texts: [end.text], style: end.style }, size.columns - 1);
  return spans;
}

/** Whole, and without its family. */
function namesOf(name: string): readonly string[] {
  return [name, name.replace(/^[a-z]+-(?=[a-z])/, "")];
}

/** Cells that facts take at least. */
function leastOf(facts: readonly (readonly string[])[]): number {
  return facts.reduce((sum, texts) => sum + SEPARATOR.length + widthOf(texts.at(-1) ?? ""), 0);
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

function fits(spans: readonly Span[], text: string, room: number): boolean {
  return widthOf(text) <= room - lineWidth(spans) - SEPARATOR.length;
}

/** The longest of the texts that fits; what does not fit is left out whole. */
function add(
  spans: Span[],
  { texts, style }: { readonly texts: readonly string[]; readonly style: string },
  room: number,
): void {
  const text = texts.find((each) => each !== "" && fits(spans, each, room));
  if (text !== undefined) spans.push({ text: `${SEPARATOR}${text}`, style });
}
