/**
 * The editor with the keys of vi: pure. Keys in normal mode are collected until they are a command; whatever is none of its own,
 * as Enter or Ctrl-O, keeps its meaning. A dot repeats the last change with the keys that made it.
 */

import type { Buffer } from "./buffer.ts";
import * as change from "./buffer.ts";
import { type Editing, edited } from "./edit.ts";
import type { Press } from "./keys.ts";
import { motionOf, objectOf, onCharacter, type Range, spelled } from "./vim-motions.ts";
import { type Selection, selectedRange, selectingKey } from "./vim-visual.ts";

export interface Vim {
  readonly mode: "insert" | "normal" | "visual" | "visual line";
  /** Where the selection of a visual mode began. */
  readonly anchor: number;
  /** The keys of a command that is not whole yet. */
  readonly keys: string;
  /** The last search for a character, like `fx`. */
  readonly find: string;
  /** The keys of the change in progress, and of the last whole one. */
  readonly changing: readonly Press[] | undefined;
  readonly last: readonly Press[];
}

interface Vimmed<V extends Vim | undefined = Vim> {
  readonly vim: V;
  readonly editing: Editing;
  /** What the rest of the terminal gets in place of the key; absent: the key was used up. */
  readonly press?: Press;
}

export const VIM: Vim = { mode: "insert", anchor: 0, keys: "", find: "", changing: undefined, last: [] };

const COMMAND =
  /^(?<count>[1-9]\d*)?(?:(?<verb>[dcy])(?<more>[1-9]\d*)?)?(?<what>gg|[fFtTr].|(?<=[dcy]\d*)[ia].|.)$/su;
const UNFINISHED = /^(?:[1-9]\d*)?(?:[dcy](?:[1-9]\d*)?)?(?:[gfFtTr]|(?<=[dcy]\d*)[ia])?$/;
const MAX_COUNT = 1_000;

/** Other names of commands: the verb and what it is about. */
const SHORT: Readonly<Record<string, string>> = {
  ...{ x: "dl", X: "dh", D: "d$", C: "c$", Y: "yy", s: "cl", S: "cc" },
};

/** Where insert mode begins. */
const INSERTS: Readonly<Record<string, (buffer: Buffer) => Buffer>> = {
  i: (buffer) => buffer,
  a: (buffer) => (buffer.at === change.lineEnd(buffer).at ? buffer : change.right(buffer)),
  I: (buffer) => moved(buffer, motionOf("^", buffer, 1)?.to ?? buffer.at),
  A: change.lineEnd,
  o: (buffer) => change.insert(change.lineEnd(buffer), "\n"),
  O: (buffer) => change.left(change.insert(change.lineStart(buffer), "\n")),
};

const CHANGES: Readonly<Record<string, (buffer: Buffer, count: number) => Buffer>> = {
  u: (buffer, count) => times(count, buffer, change.undo),
  p: (buffer, count) => put(buffer, count, true),
  P: (buffer, count) => put(buffer, count, false),
  J: (buffer) => {
    const end = change.lineEnd(buffer).at;
    const next = /^\n[ \t]*/.exec(buffer.text.slice(end))?.[0].length ?? 0;
    return next === 0 ? buffer : { ...change.replacedRange(buffer, end, end + next, " "), at: end };
  },
  "~": (buffer, count) =>
    times(count, buffer, (now) => {
      const end = change.right(now).at;
      const letter = now.text.slice(now.at, end);
      if (letter === "\n" || letter === "") return now;
      const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      return { ...change.replacedRange(now, now.at, end, other), at: now.at + other.length };
    }),
};

/** Without a mode of vi every key goes on to the editor. */
export function vimPressed<V extends Vim | undefined>(
  vim: V,
  editing: Editing,
  press: Press,
): Vimmed<V | Vim> {
  return vim === undefined ? { vim, editing, press } : inMode(vim, editing, press);
}

/** What is selected; undefined: nothing is. */
export function selectedIn(vim: Vim | undefined, buffer: Buffer): Range | undefined {
  const selection = vim && selectionOf(vim);
  return selection && selectedRange(buffer, selection);
}

function selectionOf({ mode, anchor }: Vim): Selection | undefined {
  return mode === "visual" || mode === "visual line"
    ? { anchor, isLines: mode === "visual line" }
    : undefined;
}

/** A text was sent, and a new one is begun. */
export function inserting(vim: Vim): Vim {
  return { ...vim, mode: "insert", changing: undefined };
}

export function isKey(press: Press, name: string): boolean {
  return press.kind === "key" && press.name === name;
}

function inMode(vim: Vim, editing: Editing, press: Press): Vimmed {
  const recorded = vim.changing === undefined ? vim : { ...vim, changing: [...vim.changing, press] };
  if (vim.mode === "insert") return inInsert(recorded, editing, press);
  if (press.kind === "paste") return { vim, editing, press };
  if (isKey(press, "escape") && vim.keys !== "") return { vim: { ...vim, keys: "" }, editing };
  if (isKey(press, "escape") && selectionOf(vim) !== undefined)
    return { vim: { ...vim, mode: "normal" }, editing };
  const keys = press.kind === "text" ? press.text : NAMED[press.name];
  if (keys === undefined) return { vim, editing, press };
  let now: Vimmed = { vim, editing };
  let rest = [...keys];
  while (rest.length > 0 && now.vim.mode !== "insert") {
    const [key = "", ...others] = rest;
    now = pressed(now.vim, now.editing, key);
    rest = others;
  }
  // over a slow line a command and the text behind it arrive together
  return rest.length === 0 ? now : inMode(now.vim, now.editing, text(rest.join("")));
}

/** Keys with names that move as letters do. */
const NAMED: Readonly<Record<string, string>> = { space: "l", backspace: "h" };

function inInsert(vim: Vim, editing: Editing, press: Press): Vimmed {
  if (!isKey(press, "escape")) return { vim, editing, press };
  const { buffer } = editing;
  const at = buffer.at === change.lineStart(buffer).at ? buffer.at : change.left(buffer).at;
  const last = vim.changing ?? vim.last;
  return {
    vim: { ...vim, mode: "normal", keys: "", changing: undefined, last },
    editing: { ...editing, buffer: moved(buffer, at) },
  };
}

function pressed(vim: Vim, editing: Editing, key: string): Vimmed {
  const keys = vim.keys + key;
  const selection = selectionOf(vim);
  if (selection !== undefined) return selecting({ ...vim, keys }, editing, selection);
  if (keys === ".") return repeated(vim, editing);
  if (UNFINISHED.test(keys)) return { vim: { ...vim, keys }, editing };
  const rested = { ...vim, keys: "" };
  const groups = COMMAND.exec(keys)?.groups;
  if (groups === undefined) return { vim: rested, editing };
  const { verb: given, what: typed = "" } = groups;
  const short = given === undefined ? SHORT[typed] : undefined;
  const [verb, what] = short === undefined ? [given, typed] : [short[0], short.slice(1)];
  const count = Math.min(MAX_COUNT, Number(groups.count ?? 1) * Number(groups.more ?? 1));
  const find = /^[fFtT]/.test(what) ? what : vim.find;
  return command({ ...rested, find }, editing, {
    keys,
    verb,
    what,
    count,
    hasCount: groups.count !== undefined,
  });
}

/** A dot repeats no change of a selection: it goes on repeating the change before. */
function selecting(vim: Vim, editing: Editing, selection: Selection): Vimmed {
  const next = selectingKey(editing.buffer, selection, vim);
  if (next.kind === "more") return { vim, editing };
  const find = /[fFtT].$/su.exec(vim.keys)?.[0] ?? vim.find;
  const rested = { ...vim, keys: "", find };
  const now = { ...editing, buffer: next.kind === "normal" ? onCharacter(next.buffer) : next.buffer };
  if (next.kind !== "selecting") return { vim: { ...rested, mode: next.kind }, editing: now };
  const { anchor, isLines } = next.selection;
  return { vim: { ...rested, mode: isLines ? "visual line" : "visual", anchor }, editing: now };
}

interface Order {
  readonly keys: string;
  readonly verb: string | undefined;
  readonly what: string;
  readonly count: number;
  readonly hasCount: boolean;
}

function command(vim: Vim, editing: Editing, order: Order): Vimmed {
  const { keys, verb, what, count, hasCount } = order;
  const { buffer } = editing;
  const made = (next: Buffer): Vimmed => {
    const isChange = next.text !== buffer.text && what !== "u";
    const last = isChange ? [text(keys)] : vim.last;
    return { vim: { ...vim, last }, editing: { ...editing, buffer: onCharacter(next) } };
  };
  if (verb !== undefined) return acted(vim, editing, order);
  if (what === "v" || what === "V")
    return { vim: { ...vim, mode: what === "v" ? "visual" : "visual line", anchor: buffer.at }, editing };
  if (Object.hasOwn(INSERTS, what)) {
    const next = INSERTS[what]?.(buffer) ?? buffer;
    return { vim: { ...vim, mode: "insert", changing: [text(keys)] }, editing: { ...editing, buffer: next } };
  }
  const [first = "", letter = ""] = [...what];
  if (first === "r" && letter !== "") {
    const end = change.right(buffer).at;
    const isOn = buffer.at < change.lineEnd(buffer).at;
    return made(isOn ? { ...change.replacedRange(buffer, buffer.at, end, letter), at: buffer.at } : buffer);
  }
  if (Object.hasOwn(CHANGES, what)) return made(CHANGES[what]?.(buffer, count) ?? buffer);
  if (what === "j" || what === "k") return vertical(vim, editing, { what, count });
  const motion = motionOf(
    spelled(what, vim.find),
    buffer,
    hasCount || what !== "G" ? count : Number.MAX_SAFE_INTEGER,
  );
  return made(motion === undefined ? buffer : moved(buffer, motion.to));
}

/** Over the first and the last line it goes on into what was said before, as ↑ and ↓ do. */
function vertical(vim: Vim, editing: Editing, { what, count }: { what: "j" | "k"; count: number }): Vimmed {
  const step = what === "j" ? change.down : change.up;
  const first = step(editing.buffer);
  if (first === undefined)
    return { vim, editing, press: { kind: "key", name: what === "j" ? "down" : "up" } };
  const buffer = times(count - 1, first, (now) => step(now) ?? now);
  return { vim, editing: { ...editing, buffer: onCharacter(buffer) } };
}

function acted(vim: Vim, editing: Editing, { keys, verb, what, count }: Order): Vimmed {
  const { buffer } = editing;
  const range = rangeOf(buffer, { what: spelled(what, vim.find), verb, count });
  if (range === undefined) return { vim, editing };
  const taken = buffer.text.slice(range.from, range.to);
  const cut = range.isLines && !taken.endsWith("\n") ? `${taken}\n` : taken;
  const held = { ...buffer, cut };
  if (verb === "y")
    return { vim, editing: { ...editing, buffer: moved(held, range.isLines ? buffer.at : range.from) } };
  const { from, to } = range.isLines ? lineRange(buffer, range, verb === "c") : range;
  const next = change.replacedRange(held, from, to, "");
  if (verb === "c")
    return { vim: { ...vim, mode: "insert", changing: [text(keys)] }, editing: { ...editing, buffer: next } };
  const at = range.isLines ? change.lineStart(next) : next;
  return { vim: { ...vim, last: [text(keys)] }, editing: { ...editing, buffer: onCharacter(at) } };
}

function rangeOf(
  buffer: Buffer,
  { what, verb, count }: { what: string; verb: string | undefined; count: number },
): Range | undefined {
  if (what === verb || what === "j" || what === "k" || what === "gg" || what === "G") {
    const step = what === "k" ? change.up : change.down;
    const wanted = what === verb ? count - 1 : count;
    const other =
      what === "gg"
        ? moved(buffer, 0)
        : what === "G"
          ? moved(buffer, buffer.text.length)
          : times(wanted, buffer, (now) => step(now) ?? now);
    const [first, last] = other.at < buffer.at ? [other, buffer] : [buffer, other];
    const to = Math.min(buffer.text.length, change.lineEnd(last).at + 1);
    return { from: change.lineStart(first).at, to, isLines: true };
  }
  if (/^[ia]./su.test(what)) return objectOf(what, buffer);
  // cw changes the word alone, not the blanks behind it
  const isOnWord = /\S/.test(buffer.text[buffer.at] ?? "");
  const meant = verb === "c" && isOnWord ? ({ w: "e", W: "E" }[what] ?? what) : what;
  const motion = motionOf(meant, buffer, count);
  if (motion === undefined) return undefined;
  const [from, to] = motion.to < buffer.at ? [motion.to, buffer.at] : [buffer.at, motion.to];
  const end = motion.isInclusive ? change.right({ ...buffer, at: to }).at : to;
  // from word to word it stays on its line
  const lineEnd = change.lineEnd(buffer).at;
  const isOver = /^[wW]$/.test(meant) && end > lineEnd && from < lineEnd;
  return { from, to: isOver ? lineEnd : end, isLines: false };
}

/** Whole lines with one line break; of a change the empty line stays. */
function lineRange({ text: whole }: Buffer, { from, to }: Range, isChange: boolean) {
  const hasBreak = whole[to - 1] === "\n";
  if (isChange) return { from, to: hasBreak ? to - 1 : to };
  return { from: hasBreak || from === 0 ? from : from - 1, to };
}

function repeated(vim: Vim, editing: Editing): Vimmed {
  const start: Vimmed = { vim: { ...vim, keys: "" }, editing };
  const end = vim.last.reduce<Vimmed>((now, press) => {
    const next = inMode(now.vim, now.editing, press);
    if (next.press === undefined) return next;
    return { vim: next.vim, editing: edited(next.editing, next.press) ?? next.editing };
  }, start);
  return { vim: { ...end.vim, mode: "normal", changing: undefined, last: vim.last }, editing: end.editing };
}

function put(buffer: Buffer, count: number, isAfter: boolean): Buffer {
  const { cut } = buffer;
  if (cut === "") return buffer;
  const whole = cut.repeat(count);
  if (!cut.endsWith("\n")) {
    const isOn = isAfter && buffer.at < change.lineEnd(buffer).at;
    return change.left(change.insert(isOn ? change.right(buffer) : buffer, whole));
  }
  if (!isAfter) {
    const start = change.lineStart(buffer);
    return moved(change.insert(start, whole), start.at);
  }
  const end = change.lineEnd(buffer);
  return moved(change.insert(end, `\n${whole.slice(0, -1)}`), end.at + 1);
}

function moved(buffer: Buffer, at: number): Buffer {
  return change.snapped(buffer, at);
}

function times(count: number, buffer: Buffer, step: (buffer: Buffer) => Buffer): Buffer {
  let now = buffer;
  for (let left = count; left > 0; left--) now = step(now);
  return now;
}

function text(keys: string): Press {
  return { kind: "text", text: keys };
}
