/**
 * The interactive terminal: keys and events change the state, the state is drawn (painter.ts). It holds no rights of its
 * own: whatever it does is a request over the wire, as any other client makes it.
 */
import { existsSync } from "node:fs";
import type { WireEvent } from "../abi/wire-events.ts";
import { ChatClient } from "../cli/chat/client.ts";
import type { Call } from "../cli/command.ts";
import type { AskDialog } from "../cli/dialog/ask-dialog.ts";
import { showOnDesktop } from "../cli/run/shell-line.ts";
import { openedLine, pausedLine } from "../cli/screen/chat-lines.ts";
import { errorLines } from "../cli/screen/errors.ts";
import { languageFor } from "../cli/screen/text/language.ts";
import { PLAIN } from "../cli/screen/text/paint.ts";
import { catalogueOf } from "../cli/screen/words/catalogue.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import { Actions } from "./actions.ts";
import { Appearance } from "./appearance.ts";
import { DialogBox } from "./drive/dialog-box.ts";
import { Overlay } from "./drive/overlay.ts";
import { Tty } from "./drive/tty.ts";
import { type Editing, edited, NEW, replaced, typedAhead } from "./editor/edit.ts";
import { KeyMap } from "./editor/key-map.ts";
import { type Press, pressesFor } from "./editor/keys.ts";
import { inserting, isKey, VIM, type Vim, vimPressed } from "./editor/vim.ts";
import { innerCall, innerDialog } from "./inner-call.ts";
import { Keep } from "./keep.ts";
import { Link, type Opened, type Start, type Wait } from "./link.ts";
import { Notices } from "./notices.ts";
import { Painter } from "./painter.ts";
import { readPreferences, USUAL } from "./preferences.ts";
import type { Offer } from "./slash.ts";
import { type KnownSession, knownModel, lostModel, openedModel } from "./state/catch-up.ts";
import { EMPTY, type Model, type NoticeLevel } from "./state/model.ts";
import { notice, reduce } from "./state/reduce.ts";
import { NOTHING_SEEN, tallied } from "./state/status-input.ts";
import { type StatusLine, statusLineOf } from "./status-line.ts";
import type { Line } from "./text/line.ts";
import type { EntryLook } from "./view/entry-lines.ts";

const HINT_MS = 2_000;

interface AppOptions {
  readonly call: Call;
  readonly cwd: string;
  readonly words: Phrases;
  /** The directory of the socket, where the terminal is noted as taken. */
  readonly runtime: string | undefined;
  readonly nowMono: () => number;
  readonly wait: Wait;
}

export class App implements Disposable {
  readonly call: Call;
  readonly client: ChatClient;
  keep: Keep;
  readonly box: DialogBox;
  readonly overlay: Overlay;
  readonly appearance: Appearance;
  readonly keys = new KeyMap();
  readonly #notices: Notices;
  preferences = USUAL;
  /** In the language of the user. */
  words: Phrases;
  readonly actions: Actions;
  readonly status: StatusLine;
  /** The session that is opened once this one is left. */
  next: number | undefined;
  /** undefined: the keys of the editor are not those of vi. */
  vim: Vim | undefined;
  readonly #options: AppOptions;
  readonly #tty: Tty;
  readonly #painter: Painter;
  readonly #inner: Call;
  readonly #dialog: AskDialog;
  readonly #link: Link;
  readonly #unlisten: () => void;
  #model: Model = EMPTY;
  /** Of the session, once it is there. */
  #cwd: string;
  #editing: Editing;
  #hint = "";
  readonly #painted = Promise.withResolvers<void>();
  #isPainted = false;
  #hasEnded = false;
  #hinting: NodeJS.Timeout | undefined;
  tally = NOTHING_SEEN;
  /** Below the mode line. */
  below: readonly Line[] = [];
  skills: readonly Offer[] = [];

  constructor(options: AppOptions) {
    const { call, cwd, nowMono, wait } = options;
    const { host } = call;
    this.#options = options;
    this.call = call;
    this.words = options.words;
    this.client = new ChatClient(host.daemon);
    this.#cwd = cwd;
    this.keep = new Keep(host.env, cwd);
    this.#notices = new Notices((text) => host.stdout.write(text, () => {}), nowMono, host.env);
    this.#notices.words = this.words.session;
    this.#editing = { ...NEW, history: this.keep.prompts() };
    this.appearance = new Appearance(host.env, call.console.paint === PLAIN, () => this.#lookChanged());
    this.#tty = new Tty(host, options.runtime, {
      typed: (chunk) => this.appearance.withoutAnswer(chunk),
      press: (press) => pressesFor(press, this.overlay.isOpen).forEach((each) => void this.#press(each)),
      resized: () => this.#resized(),
      gone: () => this.leave(),
    });
    this.#painter = new Painter(this);
    this.box = new DialogBox(
      () => this.size,
      nowMono,
      () => this.changed(),
    );
    this.box.onUnread = (press) => this.#toEditor(press);
    this.overlay = new Overlay(host.stdout, this);
    this.actions = new Actions(this);
    this.status = statusLineOf(this);
    this.#inner = innerCall(this);
    this.#dialog = innerDialog(this, this.#inner);
    const take = (model: Model): Model => (this.model = model);
    const follower = {
      known: (at: KnownSession) => take(knownModel(this.#model, at, this.words)),
      opened: (at: Opened) => this.#opened(at),
      event: (event: WireEvent) => this.#event(event),
      lost: () => take(lostModel(this.#model, this.words)),
    };
    this.#link = new Link(host, this.client.name, { follower, wait });
    this.#unlisten = host.interrupts.listen(() => this.actions.interrupt());
    this.#take();
  }

  /** `start` is asked only once the first frame is on the screen. The exit code of the process, 0 when the user left. */
  async untilOver(start: () => Promise<Start | "interrupted" | undefined>): Promise<number> {
    // nothing else is loaded or begun while keys may arrive that were typed before there was anything to see
    await this.#painted.promise;
    await this.prefer();
    const begun = await start();
    if (begun === "interrupted") return 130;
    if (begun === undefined || this.#hasEnded) return 0;
    return (await this.#link.follow(begun)) ?? 0;
  }

  get model(): Model {
    return this.#model;
  }

  set model(model: Model) {
    this.#model = model;
    this.changed();
  }

  get editing(): Editing {
    return this.#editing;
  }

  set editing(editing: Editing) {
    this.#editing = editing;
    this.keep.draftLater(() => this.#draftNow());
    this.changed();
  }

  get cwd(): string {
    return this.#cwd;
  }

  get nowMono(): number {
    return this.#options.nowMono();
  }

  get size() {
    const { columns, rows } = this.call.host.stdout;
    return { columns: columns || 80, rows: rows || 24 };
  }

  get look(): EntryLook {
    const { theme, highlighter } = this.appearance;
    const highlight = highlighter.lines.bind(highlighter);
    return { theme, words: this.words, width: this.size.columns - 1, isUnfolded: false, highlight };
  }

  /** `language`: one, or whatever leaves it to the environment. */
  async speak(language: unknown): Promise<void> {
    this.words = await catalogueOf(languageFor(language, this.call.host.env));
    this.#notices.words = this.words.session;
    this.#inner.console.catalogue = this.words;
  }

  /** Takes up what the settings say. */
  async prefer(): Promise<void> {
    this.preferences = await readPreferences(this.client, this.cwd);
    await this.speak(this.preferences.language);
    const { theme } = this.preferences;
    const { isKnown, problems } = this.appearance.choose(theme);
    if (!isKnown) this.say(this.words.act.noTheme(theme, this.appearance.names().join(", ")), "warning");
    for (const each of [...problems, ...this.keys.read(this.call.host.env)]) this.say(each, "warning");
    this.#notices.isOn = this.preferences.notifies;
    this.#notices.toDesktop = this.preferences.notifiesDesktop
      ? (words) => showOnDesktop(this.call.host, words, this.cwd)
      : undefined;
    this.vim = this.preferences.isVim ? (this.vim ?? VIM) : undefined;
    this.#useStatus();
  }

  /** Its program runs once there is a session to tell it of. */
  #useStatus(): void {
    const { statusLine } = this.preferences;
    if (statusLine === "untrusted") this.status.use(undefined, this.words.modeLine.untrustedStatus);
    else this.status.use(this.pid === 0 ? undefined : statusLine);
  }

  #lookChanged(): void {
    if (this.overlay.isOpen) this.overlay.resized();
    this.changed();
  }

  /** The model of what is running; 0: no session yet. */
  get pid(): number {
    return this.#model.pid ?? 0;
  }

  /** Called by a part that must set the terminal back however the process ends. */
  onEnd(undo: () => void): () => void {
    return this.call.host.lifecycle.onEnd(undo);
  }

  /** Nothing is drawn any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get isRunning(): boolean {
    return this.#model.activity !== undefined;
  }

  say(text: string, level: NoticeLevel = "info"): void {
    this.model = notice(this.#model, text, level);
  }

  fail(error: unknown): void {
    this.say(errorLines(error, this.words.faults, PLAIN).replace(/^✗ /, ""), "error");
  }

  get shownHint(): string {
    return this.#hint;
  }

  hint(text: string): void {
    clearTimeout(this.#hinting);
    this.#hint = text;
    this.#hinting = setTimeout(() => {
      this.#hint = "";
      this.changed();
    }, HINT_MS);
    this.changed();
  }

  /** A failure is shown, and the conversation continues. */
  do(act: () => Promise<void>): void {
    void act().catch((error: unknown) => this.fail(error));
  }

  leave(): void {
    this.#hasEnded = true;
    this.#link.leave();
  }

  /** This session stays open where the other one cannot be opened. */
  async switchTo(pid: number): Promise<void> {
    await this.#link.check(pid);
    this.next = pid;
    this.leave();
  }

  /** Draws soon, once for all that changes until then. */
  changed(): void {
    this.#painter.soon();
  }

  /** Gives the terminal to another program, and takes it back. */
  async yielded(act: () => Promise<void> | void): Promise<void> {
    this.#painter.clear();
    this.#tty.leave();
    await act();
    this.#take();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#hinting);
    this.#hasEnded = true;
    this.#notices[Symbol.dispose]();
    this.#draftNow();
    for (const part of [this.overlay, this.actions.suggestions, this.actions.panel, this.status])
      part[Symbol.dispose]();
    this.#unlisten();
    this.#painter.end();
    this.#tty.leave();
    void this.#dialog[Symbol.asyncDispose]();
  }

  #opened({ pid, uuid, session, items, isAgain, sandbox }: Opened): void {
    this.model = openedModel(this.#model, { pid, uuid, items, isAgain, session }, this.words);
    if (session !== undefined && !isAgain) this.say(openedLine(session, this.words));
    if (session !== undefined && session.cwd !== this.#cwd) this.#moved(session.cwd);
    else this.#useStatus();
    if (this.#model.isPaused) this.say(pausedLine({ pid, is_paused: true }, this.words));
    if (sandbox !== undefined) this.say(this.words.session.sandboxOff(sandbox), "warning");
    const draft = this.keep.draft(pid);
    if (!isAgain && draft !== "" && this.#editing.buffer.text === "")
      this.editing = replaced(this.#editing, draft);
    this.do(() => this.actions.opened());
  }

  /** The session works in another folder, whose earlier messages it has. */
  #moved(cwd: string): void {
    this.#cwd = cwd;
    this.#draftNow();
    this.keep = new Keep(this.call.host.env, cwd);
    this.editing = { ...this.#editing, history: this.keep.prompts() };
    this.do(() => this.prefer());
    if (!existsSync(cwd)) this.say(this.words.session.folderGone(cwd), "warning");
  }

  #event(event: WireEvent): void {
    if (event.event === "ask") this.#dialog.ask(event);
    if (event.event === "ask_closed") this.#dialog.close(event);
    if (event.event === "child") void this.actions.panel.look();
    this.#notices.event(event);
    this.tally = tallied(this.tally, event);
    if (event.event === "message") this.status.soon();
    this.#model = reduce(this.#model, event, {
      words: this.words,
      client: this.client.name,
      mono: this.nowMono,
    });
    if (event.event === "idle") this.do(() => this.#afterRun());
    this.changed();
  }

  /** A run may have changed the settings of the status line, too. */
  async #afterRun(): Promise<void> {
    await this.actions.learnFacts();
    const { statusLine } = await readPreferences(this.client, this.cwd);
    this.preferences = { ...this.preferences, statusLine };
    this.#useStatus();
  }

  #press(given: Press): void {
    if (this.#notices.saw(given)) return;
    if (!this.#isPainted) this.editing = typedAhead(this.#editing, given);
    const isDialog = !this.overlay.isOpen && this.box.isSettled(this.#editing.buffer.text !== "");
    const place = this.overlay.isOpen || isDialog ? "dialog" : "editor";
    const press = this.#isPainted ? this.keys.pressed(given, place, this.nowMono) : undefined;
    if (press === undefined) return;
    if (this.overlay.isOpen) this.overlay.press(press);
    else if (isDialog) this.actions.dialogKey(press);
    else {
      this.box.passed();
      this.#toEditor(press);
    }
  }

  #toEditor(given: Press): void {
    const { vim, editing, press } = vimPressed(this.vim, this.#editing, given);
    [this.vim, this.editing] = [vim, editing];
    if (press === undefined) return;
    if (!this.actions.key(press)) this.editing = edited(this.#editing, press) ?? this.#editing;
    if (isKey(press, "enter") && this.#editing.buffer.text === "") this.vim = this.vim && inserting(this.vim);
  }

  #resized(): void {
    if (this.overlay.isOpen) this.overlay.resized();
    else this.#painter.resized();
    this.changed();
  }

  #take(): void {
    this.#tty.enter(this.appearance.question());
    this.#painter.now();
    // what was typed meanwhile arrives in the turn of the event loop that comes now
    setImmediate(() => setImmediate(() => this.#paintedNow()));
  }

  #paintedNow(): void {
    this.#isPainted = true;
    this.#painted.resolve();
  }

  #draftNow(): void {
    this.keep.keepDraft(this.#model.pid, this.#editing);
  }

  redraw(): void {
    this.#painter.clear();
    this.#painter.now();
  }
}
