/** The line below the editor: mode, model, how full the context is, what it cost, and what to do next. Pure. */
import type { PermissionMode } from "../../abi/process.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import { widthOf } from "../../cli/screen/text/width.ts";
import { type Line, lineWidth, type Span } from "../text/line.ts";
import type { Scene } from "./frame.ts";

/** Each mode has a word, a symbol and a colour of its own name. */
const MODES: Readonly<Record<PermissionMode, string>> = {
  plan: "◇ plan",
  dont_ask: "∅ don't ask",
  default: "○ default",
  accept_edits: "✎ accept edits",
  auto: "▸ auto",
  bypass: "! bypass",
};
const SEPARATOR = " · ";

export function modeLine({ model, hint, vim, size, look: { theme }, dialog, editing }: Scene): Line {
  const facts = [
    ...(vim === undefined ? [] : [vim.toUpperCase()]),
    ...(model.link === "connecting" ? ["connecting …"] : []),
    ...(model.model === "" ? [] : [safeLine(model.model)]),
    ...(model.context === undefined ? [] : [`${Math.round(model.context * 100)}% context`]),
    ...(model.costUsd === undefined ? [] : [`$${model.costUsd.toFixed(model.costUsd < 1 ? 3 : 2)}`]),
  ];
  const last = lastPart(hint, dialog, editing.buffer.text);
  const end: Span = { text: last.text, style: hint === "" ? theme.dim : theme.warning };
  // what is said for a moment is said at any width: the facts give way
  const room = size.columns - 1 - (last.isUrgent ? widthOf(last.text) + SEPARATOR.length : 0);
  const mode: Span = { text: `  ${MODES[model.mode]}`, style: theme[model.mode] };
  if (lineWidth([mode]) > room) return [{ text: "  ", style: "" }, end];
  const spans = [mode];
  for (const text of facts) add(spans, { text, style: theme.dim }, room);
  add(spans, end, size.columns - 1);
  return spans;
}

function lastPart(hint: string, dialog: Scene["dialog"], text: string) {
  if (hint !== "") return { text: hint, isUrgent: true };
  if (dialog !== undefined)
    return {
      text: dialog.isSettled ? "" : "keys go to the editor until you pause",
      isUrgent: !dialog.isSettled,
    };
  const words = text.startsWith("!")
    ? "your shell runs it, the model reads its output"
    : "shift+tab mode · /help";
  return { text: words, isUrgent: false };
}

/** What does not fit is left out whole. */
function add(spans: Span[], { text, style }: Span, room: number): void {
  if (text === "" || lineWidth(spans) + widthOf(text) + SEPARATOR.length > room) return;
  spans.push({ text: `${SEPARATOR}${text}`, style });
}
