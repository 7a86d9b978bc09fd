/**
 * The pages of a history that a view holds: some that follow one another, the newest first. Older and newer ones are read
 * again when they are needed, and the far end is dropped. Pure.
 */
import type { WireHistoryItem } from "../../abi/methods/session.ts";
import type { TranscriptEntry } from "../state/model.ts";

/** How many messages are read at once, and the most pages that are held. */
export const PAGE_MESSAGES = 100;
const MOST_PAGES = 4;

export interface Pages {
  /** How to ask for each page that was ever read, and for the one after them; null: there is none. */
  readonly cursors: readonly (string | null | undefined)[];
  /** The number of the newest page that is held. */
  readonly newest: number;
  /** The newest first; of each the oldest message first. */
  readonly held: readonly (readonly WireHistoryItem[])[];
  /** The messages at the end of page 0 that the terminal shows by itself. */
  readonly shared: number;
}

export const NO_PAGES: Pages = { cursors: [undefined], newest: 0, held: [], shared: 0 };

/** The number of the page to read for older, or for newer messages; undefined: there is none. */
export function wanted({ cursors, newest, held }: Pages, which: "older" | "newer"): number | undefined {
  const number = which === "older" ? newest + held.length : newest - 1;
  return number < 0 || cursors[number] === null || number >= cursors.length ? undefined : number;
}

/** With the page of this number, which stands at one end of those that are held. */
export function withPage(pages: Pages, number: number, page: Page): Pages {
  const { messages, next } = page;
  const cursors = number + 1 < pages.cursors.length ? pages.cursors : [...pages.cursors, next ?? null];
  if (number < pages.newest)
    return { ...pages, cursors, newest: number, held: [messages, ...pages.held].slice(0, MOST_PAGES) };
  const held = [...pages.held, messages];
  const over = Math.max(0, held.length - MOST_PAGES);
  return { ...pages, cursors, newest: pages.newest + over, held: held.slice(over) };
}

interface Page {
  readonly messages: readonly WireHistoryItem[];
  readonly next?: string | undefined;
}

/** Where a message stands: of which process, and in which record. */
export interface MessagePlace {
  readonly uuid: string;
  readonly seq: number;
  readonly role: WireHistoryItem["role"];
}

export function placeOf({ uuid, seq, role }: WireHistoryItem): MessagePlace | undefined {
  return uuid === undefined ? undefined : { uuid, seq, role };
}

/**
 * Which messages of the newest page are the entries that the terminal shows: by their words or calls, from the end. `shared`: so many
 * messages at the end of the page are among the entries; `from`: the entries before this one are read from the history.
 */
export function joined(entries: readonly TranscriptEntry[], messages: readonly WireHistoryItem[]) {
  const places = new Map<number, MessagePlace>();
  let [oldest, from, end] = [messages.length, 0, messages.length];
  for (const [index, entry] of [...entries.entries()].toReversed()) {
    const found = messages.findLastIndex((item, n) => n < end && isOf(item, entry));
    const item = messages[found];
    if (item === undefined) continue;
    const place = placeOf(item);
    if (place !== undefined) places.set(index, place);
    // a reply may have words beside its calls, and several of them
    [oldest, from, end] = [found, index, entry.kind === "call" ? found + 1 : found];
  }
  return { places, shared: messages.length - oldest, from: oldest > 0 ? 0 : from };
}

function isOf({ role, text, made = [] }: WireHistoryItem, entry: TranscriptEntry): boolean {
  if (entry.kind === "call") return entry.id !== "" && made.some(({ id }) => id === entry.id);
  if (entry.kind !== "user" && entry.kind !== "text") return false;
  return (role === "user") === (entry.kind === "user") && wordsOf(text) === wordsOf(entry.text);
}

/** Enough to tell texts apart; a history cuts them. */
function wordsOf(text: string): string {
  return text.trim().slice(0, 2_000);
}
