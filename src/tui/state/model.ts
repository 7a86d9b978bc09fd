/** What the terminal knows of a conversation. It is changed by the reducer alone (reduce.ts). */
import type { CallNote } from "../../abi/call-note.ts";
import type { Result } from "../../abi/methods/methods.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { BlockPlace } from "../text/markdown.ts";

/** One thing in the transcript. Once it is final it never changes again. */
export type TranscriptEntry =
  | { readonly kind: "user"; readonly text: string; readonly from: string }
  | TextEntry
  | ThinkingEntry
  | CallEntry
  | ShellEntry
  | AsideEntry
  | NoticeEntry
  /** What a command of the client printed, with its colours. */
  | { readonly kind: "output"; readonly title: string; readonly text: string };

export type NoticeLevel = "info" | "success" | "warning" | "error";

interface ThinkingEntry {
  readonly kind: "thinking";
  readonly text: string;
  readonly isFinal: boolean;
  /** As in TextEntry; all of it. */
  readonly shown?: BlockPlace;
}

interface TextEntry {
  readonly kind: "text";
  readonly text: string;
  readonly isFinal: boolean;
  /** The begin of a reply that never came in full: its model does not see it. */
  readonly isCut?: boolean;
  /** How far it is on the screen for good, while it still grew. */
  readonly shown?: BlockPlace;
}

interface NoticeEntry {
  readonly kind: "notice";
  readonly text: string;
  readonly level: NoticeLevel;
  /** The run was interrupted by the user. */
  readonly isInterrupt?: boolean;
  /** That a call was refused; gone once the line of the call says so. */
  readonly isDenial?: boolean;
}

/** A line that the user's shell runs. */
export interface ShellEntry {
  readonly kind: "shell";
  readonly id: string;
  readonly command: string;
  readonly output: string;
  /** The exit code, the name of the signal that ended it, or why it was not run. */
  readonly exit?: string;
  readonly isFinal: boolean;
}

/** A question beside the conversation, and its answer as far as it has come. */
export interface AsideEntry {
  readonly kind: "aside";
  readonly question: string;
  readonly text: string;
  /** Why the answer is not whole; "": it is, or still comes. */
  readonly problem: string;
  readonly isFinal: boolean;
}

export interface CallEntry {
  readonly kind: "call";
  readonly id: string;
  readonly tool: string;
  /** The arguments; while they arrive their text so far. */
  readonly input: unknown;
  readonly note?: CallNote;
  /** The last lines that it has printed; undefined once it is over. */
  readonly printed?: { readonly text: string; readonly beganMono: number } | undefined;
  readonly result?: string;
  readonly isError?: boolean;
  readonly isFinal: boolean;
}

interface Queued {
  readonly seq: number;
  readonly text: string;
  readonly isMine: boolean;
}

/** The run in progress. */
interface Activity {
  readonly sinceMono: number;
  /** Characters of the reply that arrives, for the estimate of its tokens. */
  readonly chars: number;
  readonly tokens: number;
  /** What it waits for, beside the model. */
  readonly waits: string;
}

export interface Model {
  readonly entries: readonly TranscriptEntry[];
  /** How many entries were dropped from the front of `entries`. */
  readonly dropped: number;
  /** The entries from here on belong to the reply in progress, by the index of their block. */
  readonly replyFrom: number | undefined;
  /** Calls that were open when the daemon went: their reply, which is shown, comes again. */
  readonly again?: ReadonlySet<string>;
  /** What had come of a reply that is void. */
  readonly cut?: readonly TranscriptEntry[];
  /** A question beside the run: it stands above the editor until the run is over, where no answer of the run hides it. */
  readonly aside?: AsideEntry | undefined;
  readonly activity: Activity | undefined;
  readonly queued: readonly Queued[];
  readonly mode: PermissionMode;
  readonly model: string;
  readonly pid: number | undefined;
  /** Of the session; undefined: it is not known yet. */
  readonly uuid: string | undefined;
  readonly isPaused: boolean;
  /** Shares of one. */
  readonly context: number | undefined;
  /** Output tokens: how many the user wants of the run, and how many were written. */
  readonly target: Result<"context.stat">["target"];
  readonly costUsd: number | undefined;
  readonly link: "connecting" | "connected" | "lost";
}

export const EMPTY: Model = {
  entries: [],
  dropped: 0,
  replyFrom: undefined,
  activity: undefined,
  queued: [],
  mode: "default",
  model: "",
  pid: undefined,
  uuid: undefined,
  isPaused: false,
  context: undefined,
  target: undefined,
  costUsd: undefined,
  link: "connecting",
};

/** The most entries in memory; the daemon has the rest. */
export const MAX_ENTRIES = 500;

export function isFinal(entry: TranscriptEntry): boolean {
  return !("isFinal" in entry) || entry.isFinal;
}

/** How many entries stand before that of a call, with those that were dropped; undefined: it has none. */
export function placeOfCall({ entries, dropped }: Model, id: string): number | undefined {
  const at = entries.findIndex((entry) => entry.kind === "call" && entry.id === id && id !== "");
  return at < 0 ? undefined : dropped + at;
}

/** Appends, and drops from the front what is over the bound and final. */
export function withEntries(model: Model, added: readonly TranscriptEntry[]): Model {
  const all = [...model.entries, ...added];
  const over = Math.max(0, all.length - MAX_ENTRIES);
  if (over === 0) return { ...model, entries: all };
  const replyFrom = model.replyFrom === undefined ? undefined : Math.max(0, model.replyFrom - over);
  return { ...model, entries: all.slice(over), dropped: model.dropped + over, replyFrom };
}
