/** The live part of the screen: what is in progress, what waits, the dialog or the editor, and the lines below. Pure. */
import { readNotice } from "../../abi/child.ts";
import { timeWords } from "../../abi/panel/rows.ts";
import { endedLine } from "../../cli/screen/chat-lines.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import type { Size } from "../../cli/screen/top/frame.ts";
import type { Editing } from "../editor/edit.ts";
import type { Vim } from "../editor/vim.ts";
import type { CallEntry, Model } from "../state/model.ts";
import { cutLine, type Line, lineWidth, type Span, wrapped } from "../text/line.ts";
import { editorRows } from "./editor-rows.ts";
import { type EntryLook, entryLines, restLines } from "./entry-lines.ts";
import { modeLine } from "./mode-line.ts";

export interface Scene {
  readonly model: Model;
  /** Entries before this index are on the screen for good. */
  readonly committed: number;
  readonly editing: Editing;
  /** The rows of the open dialog; the last one has the cursor at its end. */
  readonly dialog: DialogRows | undefined;
  /** Suggestions below the editor, the chosen one marked. */
  readonly offers: readonly Line[];
  /** Below the mode line. */
  readonly below: readonly Line[];
  /** In place of the usual hint, for a moment. */
  readonly hint: string;
  /** Absent: the keys of the editor are not those of vi. */
  readonly vim?: Vim["mode"] | undefined;
  /** What is selected in the editor, as offsets in its text. */
  readonly selected?: { readonly from: number; readonly to: number } | undefined;
  readonly look: EntryLook;
  readonly size: Size;
  readonly nowMono: number;
  readonly reducesMotion: boolean;
}

interface DialogRows {
  readonly lines: readonly Line[];
  /** How many rows it is scrolled up. */
  readonly back: number;
  /** How many more questions wait behind it. */
  readonly waiting?: number;
  /** The keys are its own; before that they are the editor's. */
  readonly isSettled: boolean;
}

/** Rows of the open dialog that are not shown: above, and below if it is scrolled up. */
interface Scrolled {
  readonly above: number;
  readonly back: number;
}

export interface Frame {
  readonly lines: readonly Line[];
  readonly scrolled?: Scrolled;
  /** What is in progress has more rows than there is room for. */
  readonly isOver?: boolean;
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

/** How much of a text that still grows is looked at, in screens. */
const TAIL_SCREENS = 2;
const MOST_QUEUED = 3;
/** The rows of a question beside the run, and of its answer. */
const LEAST_ASIDE = 5;
/** On fewer, an open dialog gets the rows of the agents panel and of the queue. */
const ROOMY_ROWS = 30;
const SPINNER = ["·", "∙", "•", "∙"] as const;
const SPIN_MS = 250;
const LEFT = 2;
/** The rows of what a running call prints. */
const MOST_PRINTED = 5;
/** With fewer rows or columns the screen has one row for it. */
const SMALL = 24;
const NARROW = 60;

export function liveFrame(scene: Scene): Frame {
  const { size } = scene;
  const room = Math.max(4, size.rows - 1);
  // what the user has to read comes before who else works
  const isTight = scene.dialog !== undefined && size.rows < ROOMY_ROWS;
  const foot = [...scene.offers, modeLine(scene), ...(isTight ? [] : scene.below)];
  const head = [
    ...asideLines(scene),
    ...activityLines(scene),
    ...queuedLines(scene, isTight ? 1 : MOST_QUEUED),
  ];
  const most = Math.max(1, room - foot.length - head.length - 1);
  const part = scene.dialog === undefined ? editorPart(scene, most) : bothParts(scene, most);
  const { lines, cursor, scrolled } = part;
  const left = Math.max(0, room - foot.length - head.length - lines.length);
  const whole = liveLines(scene, left);
  const live = left === 0 ? [] : whole.slice(-left);
  const above = live.length + head.length;
  const all = [...live, ...head, ...lines, ...foot].slice(0, room);
  return {
    lines: all.map((line) => cutLine(line, size.columns)),
    cursor: cursor && { row: above + cursor.row, column: cursor.column },
    ...(scrolled === undefined ? {} : { scrolled }),
    isOver: whole.length > left,
  };
}

/** What is not final yet, and what follows it: its last rows, and a few more where there is no room for all. */
function liveLines({ model, committed, look, size, nowMono }: Scene, room: number): Line[] {
  const rows = size.rows < SMALL || size.columns < NARROW ? 1 : MOST_PRINTED;
  const tailChars = size.columns * size.rows * TAIL_SCREENS;
  const lines: Line[] = [];
  for (const entry of model.entries.slice(committed).toReversed()) {
    if (lines.length > room) break;
    lines.unshift(...restLines(entry, { ...look, tailChars, live: { rows, nowMono } }));
  }
  return lines;
}

/** The question, and the end of its answer: all of it goes into the transcript later. */
function asideLines({ model: { aside }, look, size, dialog }: Scene): readonly Line[] {
  if (aside === undefined) return [];
  const most = dialog === undefined ? Math.max(LEAST_ASIDE, Math.floor(size.rows / 3)) : 2;
  const lines = entryLines(aside, look);
  return lines.length <= most ? lines : [...lines.slice(0, 2), ...lines.slice(2 - most)].slice(0, most);
}

function activityLines({ model, look, size, nowMono, reducesMotion, dialog }: Scene): Line[] {
  const { activity } = model;
  const { theme } = look;
  const words = look.words.live;
  if (model.link === "lost") return [[], [{ text: `! ${words.lost}`, style: theme.warning }]];
  if (activity === undefined)
    return model.isPaused ? [[], [{ text: `‖ ${words.paused}`, style: theme.warning }]] : [];
  const elapsed = nowMono - activity.sinceMono;
  const frame = reducesMotion ? 2 : Math.floor(elapsed / SPIN_MS) % SPINNER.length;
  const tokens = activity.tokens + Math.ceil(activity.chars / 4);
  const what: Span = {
    text: `${SPINNER[frame] ?? "•"} ${doing(model, look.words, dialog !== undefined)}`,
    style: theme.accent,
  };
  const lineWith = (...facts: string[]): Line => [
    what,
    { text: ` (${[...facts, words.toInterrupt].join(" · ")})`, style: theme.dim },
  ];
  const time = timeWords(elapsed);
  const whole = lineWith(time, ...(tokens > 0 ? [`↓ ${words.tokens(shortCount(tokens))}`] : []));
  // why it waits has a row more where it would be cut
  return [[], ...(lineWidth(whole) <= size.columns ? [whole] : wrapped(lineWith(time), size.columns, "  "))];
}

function doing(
  { entries, isPaused, activity }: Model,
  { live: words, panel }: EntryLook["words"],
  isAsked: boolean,
) {
  if (isPaused) return words.paused;
  if (activity !== undefined && activity.waits !== "") return activity.waits;
  if (isAsked) return panel.asksYou;
  // one with a note is over: its result comes with those of the others
  const open = entries.flatMap((entry) =>
    entry.kind === "call" && entry.note === undefined && !entry.isFinal ? [entry] : [],
  );
  const [first] = open;
  if (first !== undefined)
    return open.length === 1 ? words.runs(safeLine(calledTool(first))) : words.runsMany(open.length);
  return entries.at(-1)?.kind === "text" ? words.answers : words.thinks;
}

/** The tool that a call by `tool_call` names. */
function calledTool({ tool, input }: CallEntry): string {
  const named = typeof input === "object" && input !== null && "tool" in input ? input.tool : undefined;
  return tool === "tool_call" && typeof named === "string" ? named : tool;
}

function queuedLines({ model, look: { theme, words } }: Scene, most: number): Line[] {
  const shown = model.queued.slice(-most);
  const more = model.queued.length - shown.length;
  const lines = shown.map(({ text }): Line => {
    const ended = readNotice(text);
    const line = ended === undefined ? text : endedLine(ended, words);
    return [{ text: `⋯ ${safeLine(line)}`, style: theme.dim }];
  });
  return more === 0 ? lines : [[{ text: `⋯ ${words.live.moreWait(more)}`, style: theme.dim }], ...lines];
}

function rule({ size, look: { theme } }: Scene): Line {
  return [{ text: "─".repeat(Math.max(1, size.columns - 1)), style: theme.border }];
}

function editorPart(scene: Scene, most: number): Frame {
  const { editing, size, look, selected } = scene;
  const { text, at } = editing.buffer;
  const width = Math.max(1, size.columns - LEFT - 1);
  const { rows, row, column, lit } = editorRows(text, at, {
    width,
    selected,
    most: Math.max(1, Math.min(most - 1, Math.ceil(size.rows / 2))),
  });
  const lines = rows.map((each, n): Line => {
    const { from, to } = lit?.[n] ?? { from: 0, to: 0 };
    return [
      { text: n === 0 ? "› " : "  ", style: look.theme.accent },
      { text: safeLine(each.slice(0, from)), style: "" },
      { text: safeLine(each.slice(from, to)), style: look.theme.selection },
      { text: safeLine(each.slice(to)), style: "" },
    ].filter(({ text: part }, at) => at === 0 || part !== "");
  });
  return { lines: [rule(scene), ...lines], cursor: { row: row + 1, column: column + LEFT } };
}

/** An open dialog, and below it the text in the editor that keys still go to, or went to. */
function bothParts(scene: Scene, most: number): Frame {
  if (scene.editing.buffer.text === "" || most < 8) return dialogPart(scene, most);
  const editor = editorPart(scene, 4);
  const dialog = dialogPart(scene, most - editor.lines.length);
  const below = editor.cursor && { ...editor.cursor, row: editor.cursor.row + dialog.lines.length };
  return {
    ...dialog,
    lines: [...dialog.lines, ...editor.lines],
    cursor: scene.dialog?.isSettled === true ? dialog.cursor : below,
  };
}

/** Never taller than what is left: it scrolls inside. */
function dialogPart(scene: Scene, most: number): Frame {
  const { lines = [], back: wished = 0, waiting = 0 } = scene.dialog ?? {};
  const room = Math.max(1, most - 1);
  const isMore = lines.length > room;
  // scrolled up, it has a row that says what is below
  const inner = isMore && wished > 0 ? Math.max(1, room - 1) : room;
  const back = isMore ? Math.min(wished, lines.length - inner) : 0;
  const from = Math.max(0, lines.length - inner - back);
  const scrolled = { above: from, back };
  const { theme, words } = scene.look;
  const noted = (...texts: string[]): Line => [{ text: `── ${texts.join(" · ")} ─`, style: theme.border }];
  const notes = [
    ...(from > 0 ? [words.live.rowsAbove(from)] : []),
    ...(waiting > 0 ? [words.live.questionsWait(waiting)] : []),
  ];
  const note = notes.length > 0 ? noted(...notes) : rule(scene);
  if (back > 0) {
    const shown = lines.slice(from, from + inner);
    const left = lines.length - from - shown.length;
    return { lines: [note, ...shown, noted(words.live.rowsBelow(left))], cursor: undefined, scrolled };
  }
  const shown = lines.slice(from);
  const column = Math.min(scene.size.columns - 1, lineWidth(shown.at(-1) ?? []));
  return { lines: [note, ...shown], cursor: { row: shown.length, column }, scrolled };
}

function shortCount(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}m`;
}
