/** What the keys of the editor do: pure. Moving through the history keeps what was being typed. */
import * as change from "./buffer.ts";
import { BLANK, type Buffer } from "./buffer.ts";
import type { Press } from "./keys.ts";

export interface Editing {
  readonly buffer: Buffer;
  /** Earlier messages, newest first. */
  readonly history: readonly string[];
  /** Where in the history it is; -1: at what is being typed, which then stands in `draft`. */
  readonly place: number;
  readonly draft: string;
  /** What Ctrl-R looks for in the history; undefined: the last key was another one. */
  readonly query?: string | undefined;
}

export const NEW: Editing = { buffer: BLANK, history: [], place: -1, draft: "" };

const CHANGES: Readonly<Record<string, (buffer: Buffer) => Buffer>> = {
  left: change.left,
  "ctrl+b": change.left,
  right: change.right,
  "ctrl+f": change.right,
  "ctrl+left": change.wordLeft,
  "alt+left": change.wordLeft,
  "alt+b": change.wordLeft,
  "ctrl+right": change.wordRight,
  "alt+right": change.wordRight,
  "alt+f": change.wordRight,
  home: change.lineStart,
  "ctrl+a": change.lineStart,
  end: change.lineEnd,
  "ctrl+e": change.lineEnd,
  backspace: change.backspace,
  "ctrl+h": change.backspace,
  "shift+backspace": change.backspace,
  delete: change.deleteRight,
  "ctrl+d": change.deleteRight,
  "ctrl+k": change.cutToEnd,
  "ctrl+u": change.cutToStart,
  "ctrl+w": change.cutWordLeft,
  "alt+backspace": change.cutWordLeft,
  "alt+d": change.cutWordRight,
  "ctrl+y": change.yank,
  "ctrl+_": change.undo,
  "ctrl+j": (buffer) => change.insert(buffer, "\n"),
  "alt+enter": (buffer) => change.insert(buffer, "\n"),
  "shift+enter": (buffer) => change.insert(buffer, "\n"),
};

/** undefined: the key is not one of the editor's, or there is nothing that it could do. */
export function edited(editing: Editing, press: Press): Editing | undefined {
  if (press.kind === "key" && press.name === "ctrl+r") return searched(editing);
  const query = refinedQuery(editing, press);
  if (query !== undefined) return refined(editing, query);
  const next = changed(editing, press);
  return next === undefined ? undefined : { ...next, query: undefined };
}

/** Typed before there was anything to see: it is text, and nothing else. */
export function typedAhead(editing: Editing, press: Press): Editing {
  const isEnter = press.kind === "key" && press.name === "enter";
  return edited(editing, isEnter ? { kind: "key", name: "alt+enter" } : press) ?? editing;
}

function changed(editing: Editing, press: Press): Editing | undefined {
  const { buffer } = editing;
  if (press.kind === "text") return at(editing, change.insert(buffer, press.text));
  if (press.kind === "paste") return at(editing, change.paste(buffer, press.text));
  const { name } = press;
  if (name === "space") return at(editing, change.insert(buffer, " "));
  if (name === "up" || name === "ctrl+p") return above(editing);
  if (name === "down" || name === "ctrl+n") return below(editing);
  const made = CHANGES[name]?.(buffer);
  return made === undefined || made === buffer ? undefined : at(editing, made);
}

/** A line that ends in a backslash goes on instead of being sent. */
export function continued({ buffer, ...editing }: Editing): Editing | undefined {
  if (buffer.text[buffer.at - 1] !== "\\") return undefined;
  return { ...editing, buffer: change.insert(change.backspace(buffer), "\n") };
}

/** The message was sent. */
export function emptied({ buffer, history }: Editing, sent: string): Editing {
  const text = sent.trim();
  const kept = text === "" || history[0] === text ? history : [text, ...history].slice(0, MAX_HISTORY);
  return { ...NEW, buffer: { ...BLANK, cut: buffer.cut }, history: kept };
}

/** Ctrl-Y brings the text back. */
export function cleared({ buffer, history }: Editing): Editing {
  return { ...NEW, history, buffer: { ...BLANK, cut: buffer.text, pastes: buffer.pastes } };
}

export const MAX_HISTORY = 1_000;

export function replaced(editing: Editing, text: string): Editing {
  return at(editing, change.withText(editing.buffer, text));
}

function at(editing: Editing, buffer: Buffer): Editing {
  return { ...editing, buffer };
}

/** The next earlier message that contains what was typed; Ctrl-R again goes further back. */
function searched(editing: Editing): Editing | undefined {
  const { buffer, history, place, draft } = editing;
  const query = editing.query ?? buffer.text;
  const from = editing.query === undefined ? 0 : place + 1;
  const words = query.toLowerCase();
  const found = history.findIndex(
    (text, at) => at >= from && text !== buffer.text && text.toLowerCase().includes(words),
  );
  const older = history[found];
  if (older === undefined) return undefined;
  const typed = place < 0 ? buffer.text : draft;
  return { ...replaced(editing, older), place: found, draft: typed, query };
}

/** Begun in an empty editor, a search takes what is typed, as in a shell; undefined: the key is none of the search. */
function refinedQuery({ query, draft }: Editing, press: Press): string | undefined {
  if (query === undefined || draft !== "" || press.kind === "paste") return undefined;
  if (press.kind === "text") return query + press.text;
  if (press.name === "space") return `${query} `;
  return press.name === "backspace" && query !== "" ? query.slice(0, -1) : undefined;
}

/** What has no match leaves the last one. */
function refined(editing: Editing, query: string): Editing {
  const words = query.toLowerCase();
  const place = editing.history.findIndex((text) => text.toLowerCase().includes(words));
  const found = editing.history[place];
  return found === undefined ? { ...editing, query } : { ...replaced(editing, found), place, query };
}

function above(editing: Editing): Editing | undefined {
  const { buffer, history, place, draft } = editing;
  const moved = change.up(buffer);
  if (moved !== undefined) return at(editing, moved);
  const older = history[place + 1];
  if (older === undefined) return undefined;
  return { ...replaced(editing, older), place: place + 1, draft: place < 0 ? buffer.text : draft };
}

function below(editing: Editing): Editing | undefined {
  const { buffer, history, place, draft } = editing;
  const moved = change.down(buffer);
  if (moved !== undefined) return at(editing, moved);
  if (place < 0) return undefined;
  return { ...replaced(editing, place === 0 ? draft : (history[place - 1] ?? "")), place: place - 1 };
}
