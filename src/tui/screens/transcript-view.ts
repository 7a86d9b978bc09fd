/**
 * The transcript as a view of the whole screen: what the terminal shows, as it grows, before it the history of the daemon, by
 * pages. The view of another process has what that one said since it was opened.
 */
import type { Result } from "../../abi/methods/methods.ts";
import type { WireHistoryItem } from "../../abi/methods/session.ts";
import type { ChatClient } from "../../cli/chat/client.ts";
import type { Size } from "../../cli/screen/top/frame.ts";
import type { FullView } from "../drive/overlay.ts";
import type { Press } from "../editor/keys.ts";
import { entriesOf } from "../state/catch-up.ts";
import type { Model, TranscriptEntry } from "../state/model.ts";
import type { Line } from "../text/line.ts";
import type { EntryLook } from "../view/entry-lines.ts";
import {
  joined,
  type MessagePlace,
  NO_PAGES,
  PAGE_MESSAGES,
  type Pages,
  placeOf,
  wanted,
  withPage,
} from "../view/pages.ts";
import {
  currentMessage,
  type Drawn,
  hasHit,
  jumpTo,
  kept,
  linesOf,
  type Passage,
  type Transcript,
  transcriptKey,
  transcriptOf,
  transcriptRows,
} from "../view/transcript.ts";

export interface TranscriptWish {
  readonly pid: number;
  /** What the terminal shows by itself, or has heard of another process. */
  heard(): Pick<Model, "entries" | "dropped">;
  /** In the last line. */
  readonly title: string;
  /** Shown while nothing was said yet. */
  readonly task?: string;
  /** It begins a page above the end, and whoever scrolls on at the end leaves it. */
  readonly isScroll?: boolean;
  readonly client: Pick<ChatClient, "request">;
  changed(): void;
  copy(text: string): void;
  /** Another session from here, or what came after taken back. */
  go(what: "fork" | "rewind", place: MessagePlace): void;
  /** Another key; true: it was one of the view. */
  key?(name: string): boolean;
  /** What that key does now, after the title. */
  hint?(): string;
  closed?(): void;
}

type Page = Result<"session.history">;

/** How long it draws ahead before it lets keys in, in ms. */
const DRAW_MS = 4;
/** What is heard is shown so often, in ms: a reply that grows is drawn as a whole. */
const HEAR_MS = 100;

/** What scrolls towards the end. */
const DOWN: ReadonlySet<string> = new Set(["down", "j", "pagedown", "space", " ", "G", "end"]);

export class TranscriptView implements FullView {
  readonly #wish: TranscriptWish;
  #pages: Pages = NO_PAGES;
  /** By the number of the entry, counted with those that were dropped. */
  #places: ReadonlyMap<number, MessagePlace> = new Map();
  /** The first entry that is shown as the terminal has it. */
  #from = 0;
  /** As they are on the screen. */
  #heard: Pick<Model, "entries" | "dropped">;
  #heardMono = Number.NEGATIVE_INFINITY;
  #hearing: NodeJS.Timeout | undefined;
  readonly #entries = new WeakMap<WireHistoryItem, readonly Passage[]>();
  readonly #drawn: Drawn = new WeakMap();
  #now: Transcript | undefined;
  #size: Size | undefined;
  #look: EntryLook | undefined;
  #isReading = false;
  /** The page that is shown next when the user scrolls on, read and drawn before that. */
  #ahead: { readonly number: number; readonly page: Page } | undefined;
  /** There is more at the end than what was read of it. */
  #isStale = false;
  #isOver = false;
  /** The first of the two keys that fork was pressed. */
  #isForking = false;
  /** Reads on until it is there: the first message, or one that the daemon has found. */
  #goal: "start" | MessagePlace | undefined;

  constructor(wish: TranscriptWish) {
    this.#wish = wish;
    this.#heard = wish.heard();
  }

  lines(size: Size, look: EntryLook): readonly Line[] {
    if (this.#now === undefined || this.#size?.columns !== size.columns) {
      [this.#size, this.#look] = [size, look];
      const isNew = this.#now === undefined;
      this.#now = transcriptOf(this.#passages(look.words), { ...look, drawn: this.#drawn }, size);
      if (isNew && this.#wish.isScroll === true)
        this.#now = transcriptKey(this.#now, { kind: "key", name: "pageup" }, size.rows) ?? this.#now;
    }
    [this.#size, this.#look] = [size, look];
    this.#hear();
    void this.#readOn();
    const { theme, words } = look;
    return transcriptRows(this.#now, size, { theme, words, title: this.#title(words) });
  }

  press(press: Press, size: Size): boolean {
    if (this.#now === undefined) return false;
    const name = press.kind === "key" ? press.name : press.text;
    const isAgain = this.#isForking;
    this.#isForking = false;
    // a text that was meant for the editor must not begin a session
    if (name === "f" && !isAgain && !this.#now.isAsking && currentMessage(this.#now)?.place !== undefined) {
      this.#isForking = true;
      return true;
    }
    if (!this.#now.isAsking && this.#acted(name)) return true;
    const before = this.#now;
    const now = transcriptKey(before, press, size.rows);
    const isLeft = this.#wish.isScroll === true && !before.isAsking && DOWN.has(name) && this.#isAtEnd();
    if (now === undefined || isLeft) return false;
    this.#now = now;
    this.#goal = !before.isAsking && (name === "g" || name === "home") ? "start" : undefined;
    const isSearch = before.isAsking ? name === "enter" : name === "n" || name === "N";
    if (
      isSearch &&
      now.query !== "" &&
      !hasHit({ ...before, query: now.query }, name === "N" ? "above" : "anywhere")
    )
      void this.#search(now.query);
    return true;
  }

  closed(): void {
    this.#isOver = true;
    clearTimeout(this.#hearing);
    this.#wish.closed?.();
  }

  /** More may have been said: the newest page is read again, once its end is on the screen. */
  refresh(): void {
    this.#isStale = true;
    void this.#readOn();
  }

  /** More was said, and the end stays on the screen where it is there. */
  #hear(): void {
    const now = this.#wish.heard();
    if (now.entries === this.#heard.entries) return;
    const due = this.#heardMono + HEAR_MS - performance.now();
    if (due > 0) {
      this.#hearing ??= setTimeout(() => {
        this.#hearing = undefined;
        this.#wish.changed();
      }, due);
      return;
    }
    this.#heardMono = performance.now();
    if (now.dropped !== this.#heard.dropped) {
      // what was heard first is only in the history from now on: whoever has scrolled up keeps what is read
      if (!this.#isAtEnd()) return;
      this.#isStale = true;
    }
    this.#heard = now;
    if (this.#pages.newest === 0) this.#redrawn(this.#isAtEnd());
  }

  #redrawn(follows: boolean): void {
    const [size, look, before] = [this.#size, this.#look, this.#now];
    if (size === undefined || look === undefined || before === undefined) return;
    const now = transcriptOf(this.#passages(look.words), { ...look, drawn: this.#drawn }, size);
    this.#now = { ...kept(before, now), ...(follows ? { top: now.top } : {}) };
  }

  #acted(name: string): boolean {
    const current = this.#now && currentMessage(this.#now);
    if (name === "y" && current !== undefined)
      this.#wish.copy("text" in current.entry ? current.entry.text : "");
    else if ((name === "f" || name === "r") && current?.place !== undefined)
      this.#wish.go(name === "f" ? "fork" : "rewind", current.place);
    else return this.#wish.key?.(name) === true;
    return true;
  }

  #title({ live }: EntryLook["words"]): string {
    const { title, hint } = this.#wish;
    const does = hint === undefined ? "" : `${hint()} · `;
    const now = this.#isForking ? live.forkAgain : this.#goal === undefined ? "" : live.reading;
    return `${now === "" ? "" : `${now} · `}${title}${does}`;
  }

  /** Oldest first. */
  #passages(words: EntryLook["words"]): readonly Passage[] {
    const { held, newest, shared } = this.#pages;
    const older = held
      .map((page, n) => (newest + n === 0 ? page.slice(0, page.length - shared) : page))
      .toReversed()
      .flatMap((page) => page.flatMap((item) => this.#passagesOf(item, words)));
    if (newest > 0) return older;
    const { entries, dropped } = this.#heard;
    const own = entries.map((entry, n) => ({ entry, place: this.#places.get(dropped + n) }));
    const all = [...older, ...own.slice(Math.max(0, this.#from - dropped))];
    const isNew = held.length > 0 && held.every((page) => page.length === 0);
    return isNew ? [...this.#begin(all.length === 0, words), ...all] : all;
  }

  /** The same ones for the same message, so that what was drawn of them is known again. */
  #passagesOf(item: WireHistoryItem, words: EntryLook["words"]): readonly Passage[] {
    const known = this.#entries.get(item);
    if (known !== undefined) return known;
    const place = placeOf(item);
    const made = entriesOf(item, words).map((entry) => ({ entry, place }));
    this.#entries.set(item, made);
    return made;
  }

  /** Nothing of another process is in its history yet. */
  #begin(isSilent: boolean, { view }: EntryLook["words"]): readonly Passage[] {
    const { task } = this.#wish;
    if (task === undefined) return [];
    const entries: readonly TranscriptEntry[] = [
      { kind: "user", text: task, from: "" },
      ...(isSilent ? [{ kind: "notice", text: view.notBegun, level: "info" } as const] : []),
    ];
    return entries.map((entry) => ({ entry, place: undefined }));
  }

  /** One page after the other, while the screen is near an end of what is held. */
  async #readOn(): Promise<void> {
    if (this.#isReading || this.#isOver) return;
    this.#fromAhead();
    const number = this.#nextPage();
    if (number === undefined) return this.#readAhead();
    this.#isReading = true;
    const isAgain = number === 0 && this.#pages.newest === 0 && this.#pages.held.length > 0;
    if (number === 0) this.#isStale = false;
    try {
      const page = await this.#page(number);
      // whoever has scrolled up meanwhile keeps what is read
      if (isAgain && !this.#isAtEnd()) this.#isStale = true;
      else {
        // what is older is read again when it is looked at, with the cursor of this page
        if (isAgain) [this.#pages, this.#ahead] = [NO_PAGES, undefined];
        this.#take(number, page);
      }
    } catch {
      this.#goal = undefined;
      // the daemon is gone: what is held can be read
      this.#isOver ||= !isAgain;
    } finally {
      this.#isReading = false;
    }
    this.#wish.changed();
  }

  /** The page that was read ahead takes its place as soon as it is needed: scrolling waits for no daemon. */
  #fromAhead(): void {
    const ahead = this.#ahead;
    if (ahead === undefined || this.#nextPage() !== ahead.number) return;
    this.#ahead = undefined;
    this.#take(ahead.number, ahead.page);
  }

  /** The page beyond the end of what is held that is nearer. */
  async #readAhead(): Promise<void> {
    const [now, size, look] = [this.#now, this.#size, this.#look];
    if (now === undefined || size === undefined || look === undefined) return;
    const isBelow = this.#pages.newest > 0 && now.top > now.lines.length - now.top - size.rows;
    const number = wanted(this.#pages, isBelow ? "newer" : "older");
    if (number === undefined || number === this.#ahead?.number) return;
    this.#isReading = true;
    try {
      const page = await this.#page(number);
      await this.#drawAhead(page, look);
      this.#ahead = { number, page };
    } catch {
      // it is asked for again once it is needed
    } finally {
      this.#isReading = false;
    }
    if (this.#nextPage() !== undefined) this.#wish.changed();
  }

  /** Its lines are known when it is shown. */
  async #drawAhead({ messages }: Page, look: EntryLook): Promise<void> {
    let began = performance.now();
    for (const item of messages.toReversed()) {
      for (const { entry } of this.#passagesOf(item, look.words))
        linesOf(entry, { ...look, drawn: this.#drawn });
      if (performance.now() - began < DRAW_MS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      began = performance.now();
    }
  }

  #nextPage(): number | undefined {
    const [now, size] = [this.#now, this.#size];
    if (now === undefined || size === undefined) return undefined;
    const isNearEnd = now.top + 2 * size.rows > now.lines.length;
    const isFirst = this.#pages.held.length === 0;
    if (isFirst || this.#goal !== undefined || now.top < size.rows) {
      const older = wanted(this.#pages, "older");
      if (older !== undefined) return older;
    }
    this.#goal = undefined;
    const newer = isNearEnd ? wanted(this.#pages, "newer") : undefined;
    return newer ?? (this.#isStale && this.#isAtEnd() ? 0 : undefined);
  }

  /** The last line of what was said is on the screen. */
  #isAtEnd(): boolean {
    const [now, size] = [this.#now, this.#size];
    return this.#pages.newest === 0 && now !== undefined && now.top + (size?.rows ?? 0) > now.lines.length;
  }

  #page(number: number): Promise<Page> {
    const before = this.#pages.cursors[number] ?? undefined;
    const { pid, client } = this.#wish;
    return client.request("session.history", {
      pid,
      limit: PAGE_MESSAGES,
      made: true,
      ...(before === undefined ? {} : { before }),
    });
  }

  #take(number: number, page: Page): void {
    if (this.#now === undefined) return;
    const follows = number === 0 && this.#isAtEnd();
    if (number === 0) {
      this.#heard = this.#wish.heard();
      const { entries, dropped } = this.#heard;
      const { places, shared, from } = joined(entries, page.messages);
      this.#places = new Map([...places].map(([n, place]) => [dropped + n, place]));
      [this.#from, this.#pages] = [dropped + from, { ...this.#pages, shared }];
    }
    this.#pages = withPage(this.#pages, number, page);
    this.#redrawn(follows);
    this.#reached();
  }

  #reached(): void {
    const [now, goal] = [this.#now, this.#goal];
    if (now === undefined || goal === undefined) return;
    if (goal === "start") {
      this.#now = { ...now, top: 0 };
      if (wanted(this.#pages, "older") === undefined) this.#goal = undefined;
      return;
    }
    const there = jumpTo(now, goal);
    if (there === undefined) return;
    this.#now = there;
    this.#goal = undefined;
  }

  /** Where the query stands before what is held: the daemon knows. */
  async #search(text: string): Promise<void> {
    const { client, pid } = this.#wish;
    const from = this.#pages.cursors[this.#pages.newest + this.#pages.held.length];
    if (from === null || from === undefined) return;
    let before: string | undefined = from;
    while (before !== undefined && !this.#isOver && this.#now?.query === text) {
      const found: Page = await client.request("session.history", { pid, before, text, limit: 1 });
      const place = found.messages[0] && placeOf(found.messages[0]);
      if (place !== undefined) {
        this.#goal = place;
        this.#wish.changed();
        return;
      }
      before = found.next;
    }
  }
}
