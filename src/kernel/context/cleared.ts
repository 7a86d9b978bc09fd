/**
 * What stands in the view for a tool result that was cleared or shortened. Pure, and made of the shortened text as of
 * the whole one: only the former may still be in memory.
 */
import type { ContextView } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { numbersOf, type Views } from "./view.ts";

const CLEARED = "[Old tool result content cleared]";
const SHORTENED = "[The rest of this result was cleared]";
/** A last line up to this length stays: it often says how the call ended, or where the whole is kept. */
const LAST_LINE_CHARS = 300;

/** `keep`: the characters that stay; 0: none. Images leave the view. */
export function clearedMessage({ media: _media, ...message }: ContextMessage, keep: number): ContextMessage {
  return { ...message, content: clearedText(message.content, keep) };
}

function clearedText(content: string, keep: number): string {
  if (keep === 0) return CLEARED;
  const last = lastLine(content);
  if (content.length <= keep + last.length) return content;
  const head = content.slice(0, keep).toWellFormed();
  return `${head}\n${SHORTENED}${last === "" ? "" : `\n${last}`}`;
}

function lastLine(content: string): string {
  const line = content.slice(content.trimEnd().lastIndexOf("\n") + 1);
  return line.length > LAST_LINE_CHARS || line === SHORTENED ? "" : line;
}

/** The messages that a view shows, of those that were written, by number; others are left out. */
export function renderedView(
  views: Views,
  view: ContextView,
  written: ReadonlyMap<number, ContextMessage>,
): readonly ContextMessage[] {
  const clears = new Map(view.clears.map(({ n, keep = 0 }) => [n, keep]));
  return numbersOf(views, view).flatMap((n) => {
    const [message, keep] = [written.get(n), clears.get(n)];
    if (message === undefined) return [];
    return keep === undefined ? [message] : [clearedMessage(message, keep)];
  });
}
