/** The view state of `crux top` and how a key changes it. Pure: the effects are in top.ts. */
import { SIGNALS, type Signal } from "../../../abi/process.ts";
import type { Key, KeyName } from "../keys.ts";
import { type Arrangement, SORTS } from "./rows.ts";

export interface TopView extends Arrangement {
  /**
   * The pid under the cursor, which follows it when rows move; when that process is gone, the cursor keeps its
   * position. undefined until an arrow chooses a row, so that no key acts on a row that moved by itself.
   */
  readonly selected: number | undefined;
  readonly cursor: number;
  /** The first row on the screen. */
  readonly offset: number;
  readonly prompt:
    | { readonly kind: "none" }
    | { readonly kind: "filter" }
    | { readonly kind: "signal"; readonly pid: number }
    /** US dollars, as they are typed. */
    | { readonly kind: "budget"; readonly pid: number; readonly text: string };
  /** The outcome of the last action; the next key clears it. */
  readonly message: string;
}

export type TopAction =
  | { readonly kind: "none" | "quit" | "suspend" | "redraw" }
  | { readonly kind: "signal"; readonly pid: number; readonly signal: Signal }
  | { readonly kind: "attach"; readonly pid: number }
  | { readonly kind: "budget"; readonly pid: number; readonly usd: number };

/** The processes in the order of their rows. */
export interface PidList {
  readonly pids: readonly number[];
  /** How many rows fit on the screen. */
  readonly page: number;
}

interface TopStep {
  readonly view: TopView;
  readonly action: TopAction;
}

const MAX_FILTER = 100;
const CHOOSE = "choose a process first: up, down";
const NONE: TopAction = { kind: "none" };
const NO_PROMPT = { kind: "none" } as const;

export function topView(how: Pick<Arrangement, "sort" | "showsAll">): TopView {
  return {
    ...how,
    isTree: false,
    filter: "",
    selected: undefined,
    cursor: 0,
    offset: 0,
    prompt: NO_PROMPT,
    message: "",
  };
}

/** Scrolls so that the chosen process is among the visible rows; without one, keeps the offset. */
export function keepInSight(view: TopView, list: PidList): TopView {
  if (view.selected === undefined) return { ...view, offset: within(view.offset, list) };
  const found = list.pids.indexOf(view.selected);
  return choose(view, found < 0 ? view.cursor : found, list);
}

function choose(view: TopView, wanted: number, list: PidList): TopView {
  const { pids, page } = list;
  const cursor = Math.max(0, Math.min(wanted, pids.length - 1));
  const offset = Math.max(Math.min(view.offset, cursor), cursor - page + 1);
  return { ...view, cursor, offset: within(offset, list), selected: pids[cursor] };
}

/** Limits the offset so that no empty rows follow the last row. */
function within(offset: number, { pids, page }: PidList): number {
  return Math.max(0, Math.min(offset, pids.length - page));
}

export function onKey(view: TopView, key: Key, list: PidList): TopStep {
  if (key.kind === "named" && key.name === "ctrl_c") return { view, action: { kind: "quit" } };
  const { prompt } = view;
  switch (prompt.kind) {
    case "filter":
      return only(typeFilter(view, key));
    case "signal":
      return chooseSignal({ ...view, prompt: NO_PROMPT }, prompt.pid, key);
    case "budget":
      return typeBudget(view, prompt, key);
    case "none": {
      const quiet = { ...view, message: "" };
      return key.kind === "named" ? onNamed(quiet, key.name, list) : onLetter(quiet, key.text);
    }
  }
}

function only(view: TopView): TopStep {
  return { view, action: NONE };
}

function onNamed(view: TopView, name: KeyName, list: PidList): TopStep {
  const { pids, page } = list;
  const move = (rows: number): TopStep =>
    only(choose(view, view.selected === undefined ? view.offset : view.cursor + rows, list));
  const scroll = (rows: number): TopStep =>
    view.selected === undefined ? only({ ...view, offset: within(view.offset + rows, list) }) : move(rows);
  switch (name) {
    case "up":
      return move(-1);
    case "down":
      return move(1);
    case "page_up":
      return scroll(-page);
    case "page_down":
      return scroll(page);
    case "home":
      return scroll(-pids.length);
    case "end":
      return scroll(pids.length);
    case "escape":
      return only(view.filter === "" ? { ...view, selected: undefined } : { ...view, filter: "" });
    case "ctrl_l":
      return { view, action: { kind: "redraw" } };
    case "ctrl_z":
      return { view, action: { kind: "suspend" } };
    case "enter":
      return view.selected === undefined
        ? only({ ...view, message: CHOOSE })
        : { view, action: { kind: "attach", pid: view.selected } };
    case "ctrl_c":
    case "backspace":
      return only(view);
  }
}

function onLetter(view: TopView, letter: string): TopStep {
  const { selected } = view;
  switch (letter) {
    case "q":
      return { view, action: { kind: "quit" } };
    case "s":
      return only({ ...view, sort: SORTS[(SORTS.indexOf(view.sort) + 1) % SORTS.length] ?? view.sort });
    case "t":
      return only({ ...view, isTree: !view.isTree });
    case "a":
      return only({ ...view, showsAll: !view.showsAll });
    case "/":
      return only({ ...view, prompt: { kind: "filter" } });
    case "p":
      return send(view, selected, SIGNALS.SIGPAUSE);
    case "r":
      return send(view, selected, SIGNALS.SIGRESUME);
    case "k":
      return selected === undefined
        ? only({ ...view, message: CHOOSE })
        : only({ ...view, prompt: { kind: "signal", pid: selected } });
    case "b":
      return selected === undefined
        ? only({ ...view, message: CHOOSE })
        : only({ ...view, prompt: { kind: "budget", pid: selected, text: "" } });
    default:
      return only(view);
  }
}

function typeFilter(view: TopView, key: Key): TopView {
  if (key.kind === "text") return { ...view, filter: (view.filter + key.text).slice(0, MAX_FILTER) };
  switch (key.name) {
    case "enter":
      return { ...view, prompt: NO_PROMPT };
    case "escape":
      return { ...view, prompt: NO_PROMPT, filter: "" };
    case "backspace":
      return { ...view, filter: Array.from(view.filter).slice(0, -1).join("") };
    default:
      return view;
  }
}

/** Enter sets it, Esc leaves it as it is; what is no amount is not sent. */
function typeBudget(view: TopView, { pid, text }: { pid: number; text: string }, key: Key): TopStep {
  const typed = (now: string): TopStep => only({ ...view, prompt: { kind: "budget", pid, text: now } });
  if (key.kind === "text")
    return /^[\d.]$/.test(key.text) && text.length < 12 ? typed(text + key.text) : typed(text);
  if (key.name === "backspace") return typed(text.slice(0, -1));
  if (key.name === "escape") return only({ ...view, prompt: NO_PROMPT });
  if (key.name !== "enter") return only(view);
  const left = { ...view, prompt: NO_PROMPT };
  if (!/^(?:\d+\.?\d*|\.\d+)$/.test(text))
    return only({ ...left, message: "that is not an amount; nothing was changed" });
  return { view: left, action: { kind: "budget", pid, usd: Number(text) } };
}

const BY_LETTER: Readonly<Record<string, Signal>> = {
  "1": SIGNALS.SIGTERM,
  t: SIGNALS.SIGTERM,
  "2": SIGNALS.SIGKILL,
  k: SIGNALS.SIGKILL,
  "3": SIGNALS.SIGINT,
  i: SIGNALS.SIGINT,
  "4": SIGNALS.SIGPAUSE,
  p: SIGNALS.SIGPAUSE,
  "5": SIGNALS.SIGRESUME,
  r: SIGNALS.SIGRESUME,
};

/** A key that is not a signal's letter sends none. */
function chooseSignal(view: TopView, pid: number, key: Key): TopStep {
  const signal = key.kind === "text" && Object.hasOwn(BY_LETTER, key.text) ? BY_LETTER[key.text] : undefined;
  return signal === undefined ? only(view) : send(view, pid, signal);
}

function send(view: TopView, pid: number | undefined, signal: Signal): TopStep {
  if (pid === undefined) return only({ ...view, message: CHOOSE });
  return { view, action: { kind: "signal", pid, signal } };
}
