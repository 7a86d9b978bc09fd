/** The line below the editor: mode, model, how full the context is, what it cost, and what to do next. Pure. */
import type { PermissionMode } from "../../abi/process.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
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
  const spans: Span[] = [{ text: `  ${MODES[model.mode]}`, style: theme[model.mode] }];
  for (const text of facts) add(spans, text, theme.dim, size.columns);
  add(
    spans,
    hint === "" ? usualHint(dialog, editing.buffer.text) : hint,
    hint === "" ? theme.dim : theme.warning,
    size.columns,
  );
  return spans;
}

function usualHint(dialog: Scene["dialog"], text: string): string {
  if (dialog !== undefined) return dialog.isSettled ? "" : "keys go to the editor until you pause";
  return text.startsWith("!") ? "your shell runs it, the model reads its output" : "shift+tab mode · /help";
}

/** What does not fit is left out whole. */
function add(spans: Span[], text: string, style: string, columns: number): void {
  if (text === "" || lineWidth(spans) + text.length + SEPARATOR.length > columns - 1) return;
  spans.push({ text: `${SEPARATOR}${text}`, style });
}
