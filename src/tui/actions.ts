/** What keys and slash commands do. */
import { codeOf } from "../abi/errors.ts";
import type { PermissionMode } from "../abi/process.ts";
import { editorOf, editText } from "../cli/dialog/ask-editor.ts";
import { AgentsPanel } from "./agents-panel.ts";
import type { App } from "./app.ts";
import { copyAnswer } from "./clipboard.ts";
import { Asides, putOutput, runCommand } from "./commands.ts";
import { sentText } from "./editor/buffer.ts";
import { cleared, continued, emptied, replaced } from "./editor/edit.ts";
import type { Press } from "./editor/keys.ts";
import { sendable } from "./editor/long-pastes.ts";
import { VIM } from "./editor/vim.ts";
import { Pictures } from "./pictures.ts";
import { keepPreference } from "./preferences.ts";
import { CHANGES } from "./session-changes.ts";
import { ShellLines } from "./shell.ts";
import { helpText, nearOnes, type Offer, type Slash, slashOf } from "./slash.ts";
import { Suggestions } from "./suggestions.ts";
import { Views } from "./views.ts";

/** A second Ctrl-C, or a second Esc, within this time, in ms. */
const TWICE_MS = 2_000;
const COMMAND_KEYS: Readonly<Record<string, string>> = {
  ...{ "ctrl+t": "/todo", "shift+down": "/ps", "alt+m": "/model", pageup: "/trace ↑" },
};

export class Actions {
  readonly #app: App;
  #pressedMono = Number.NEGATIVE_INFINITY;
  /** Typed before there was a session. */
  #unsent: string[] = [];
  readonly suggestions: Suggestions;
  readonly #shell: ShellLines;
  readonly #asides: Asides;
  readonly #pictures: Pictures;
  readonly views: Views;
  readonly panel: AgentsPanel;
  #escapedMono = Number.NEGATIVE_INFINITY;

  constructor(app: App) {
    this.#app = app;
    this.suggestions = new Suggestions(app);
    this.#shell = new ShellLines(app);
    this.#asides = new Asides(app);
    this.#pictures = new Pictures(app);
    this.views = new Views(app);
    this.panel = new AgentsPanel(app);
  }

  dialogKey(press: Press): void {
    const { box } = this.#app;
    const name = press.kind === "key" ? press.name : "";
    if (box.scroll(name, this.#app.size.rows)) return;
    // the question of an agent does not keep the others from going on
    if (name === "ctrl+b" && !box.takesPastes && this.#global(name)) return;
    if (name === "ctrl+z" && this.#global(name)) return;
    box.press(press);
    this.#app.changed();
  }

  stopRun(): void {
    const app = this.#app;
    if (app.isRunning) app.do(() => app.client.interrupt(app.pid));
  }

  /** True: the key was not the editor's. */
  key(press: Press): boolean {
    if (this.panel.key(press)) return true;
    const isKey = press.kind === "key";
    // only two in a row leave
    if (!isKey || press.name !== "ctrl+c") this.#pressedMono = Number.NEGATIVE_INFINITY;
    if (!isKey) return this.#pictures.pasted(press);
    const { editing } = this.#app;
    const isEmpty = editing.buffer.text === "";
    switch (press.name) {
      case "enter":
        return this.#enter();
      case "ctrl+enter":
        return this.#now(this.#taken());
      case "tab":
        this.suggestions.complete();
        return true;
      case "up":
      case "down":
        return this.#move(press.name, isEmpty);
      case "escape":
        return this.#escape(isEmpty);
      case "ctrl+c":
        this.interrupt();
        return true;
      case "ctrl+d":
        if (isEmpty) this.#app.leave();
        return isEmpty;
      default:
        return this.#global(press.name);
    }
  }

  #global(name: string): boolean {
    const app = this.#app;
    if (name === "ctrl+b") return app.isRunning && this.slash("/bg");
    if (Object.hasOwn(COMMAND_KEYS, name)) return this.slash(COMMAND_KEYS[name] ?? "");
    const acts: Readonly<Record<string, () => void>> = {
      "shift+tab": () => app.do(async () => this.#showMode(await app.client.nextMode(app.pid))),
      "ctrl+z": () => app.do(() => app.yielded(() => app.call.host.lifecycle.suspend())),
      "ctrl+l": () => app.redraw(),
      "ctrl+o": () => this.views.transcript(),
      "ctrl+g": () => app.do(() => this.#edit()),
      "ctrl+v": () => app.do(() => this.#pictures.fromClipboard()),
    };
    const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
    act?.();
    return act !== undefined;
  }

  /** Ctrl-C: clears; on an empty line interrupts; twice leaves. */
  interrupt(): void {
    const app = this.#app;
    const isAgain = app.nowMono - this.#pressedMono <= TWICE_MS;
    this.#pressedMono = app.nowMono;
    if (isAgain) app.leave();
    else if (app.editing.buffer.text !== "") app.editing = cleared(app.editing);
    else if (this.#ended()) return;
    else this.stopRun();
    if (!isAgain) app.hint(app.words.modeLine.leaving);
  }

  /** The session is there: what was typed meanwhile is sent. */
  async opened(): Promise<void> {
    void this.panel.look();
    const texts = this.#unsent;
    this.#unsent = [];
    this.#app.model = { ...this.#app.model, queued: this.#app.model.queued.filter(({ seq }) => seq >= 0) };
    for (const text of texts) await this.say(text);
    await this.learnFacts();
    const now = await this.#app.client.mode(this.#app.pid).catch(() => undefined);
    if (now !== undefined) this.#showMode(now.mode);
    await this.#learnSkills();
  }

  async #learnSkills(): Promise<void> {
    const { definitions } = await this.#app.client.request("skills.check", { cwd: this.#app.cwd });
    this.#app.skills = definitions
      .filter(({ issues }) => issues.every(({ severity }) => severity !== "error"))
      .map(({ name, description }): Offer => ({ name, about: description }));
  }

  /** How full the context is and what the session cost, for the mode line. A session that has just ended has neither. */
  async learnFacts(): Promise<void> {
    const { pid } = this.#app;
    const client = this.#app.client.aside;
    const context = await client.request("context.stat", { pid, brief: true }).catch(() => undefined);
    const budget = await client.request("budget.get", { pid }).catch(() => undefined);
    const spent = budget?.accounts.find((account) => account.pid === pid)?.spent.usd ?? 0;
    this.#app.model = {
      ...this.#app.model,
      context:
        context === undefined || context.effective === 0 ? undefined : context.used / context.effective,
      costUsd: spent > 0 ? spent : undefined,
      target: context?.target,
      ...(this.#app.model.model === "" && context !== undefined
        ? { model: context.model || context.driver.slice(context.driver.lastIndexOf("/") + 1) }
        : {}),
    };
  }

  #enter(): boolean {
    const app = this.#app;
    const next = continued(app.editing);
    if (next !== undefined) {
      app.editing = next;
      return true;
    }
    if (this.suggestions.entered()) return true;
    const text = this.#taken();
    return text === "" ? true : this.slash(text);
  }

  /** The text in the editor, which is then empty; "": it stays there. */
  #taken(): string {
    const app = this.#app;
    const text = sendable(app);
    if (text === undefined) return "";
    app.keep.remember(text.trim());
    app.editing = emptied(app.editing, text);
    return text;
  }

  /** In a list of suggestions; ↑ in an empty editor takes back what waits. */
  #move(name: "up" | "down", isEmpty: boolean): boolean {
    if (this.suggestions.move(name)) return true;
    const waits =
      isEmpty && name === "up" && this.#app.model.queued.some(({ isMine, seq }) => isMine && seq > 0);
    if (waits) this.#app.do(() => this.#takeBack());
    return waits;
  }

  #escape(isEmpty: boolean): boolean {
    const app = this.#app;
    if (this.suggestions.dismiss() || this.#ended()) return true;
    const isAgain = isEmpty && app.nowMono - this.#escapedMono <= TWICE_MS;
    this.#escapedMono = isEmpty && !isAgain ? app.nowMono : Number.NEGATIVE_INFINITY;
    if (app.isRunning) this.stopRun();
    else if (isAgain) app.do(() => this.views.rewind());
    else app.hint(isEmpty ? app.words.modeLine.backAgain : app.words.modeLine.clears);
    return true;
  }

  /** True: something that the user began beside the run, which goes on, was there to end. */
  #ended(): boolean {
    return this.#asides.end() || this.#shell.end();
  }

  slash(line: string): boolean {
    const slash = slashOf(line, this.#app.pid, this.#app.words);
    if (slash !== undefined) this.#app.do(() => this.#act(slash, line));
    return true;
  }

  async #act(slash: Slash, line: string): Promise<void> {
    const app = this.#app;
    switch (slash.kind) {
      case "say":
        return this.say(slash.text);
      case "skill":
        return this.#skill(slash.text);
      case "run":
        return runCommand(app, slash.argv, line.trim());
      case "mode":
        return this.#mode(slash.mode, slash.text);
      case "shell":
        return this.#shell.run(slash.command, (note) => this.#tell(note));
      case "refused":
        return app.say(slash.message, "error");
      case "view":
        return this.views.open(slash.name, slash.text);
      case "do":
        return this.#do(slash.name, slash.text);
    }
  }

  async #do(name: Extract<Slash, { kind: "do" }>["name"], text: string): Promise<void> {
    const app = this.#app;
    const words = app.words.act;
    if (name === "help") return putOutput(app, "/help", helpText(app.words));
    if (name === "exit") return app.leave();
    if (name === "stop") return app.client.interrupt(app.pid);
    if (name === "back") return this.#takeBack();
    if (name === "now") return void this.#now(text);
    if (name === "copy") return copyAnswer(app, Number(text || "1"));
    if (name === "btw") return this.#asides.ask(text);
    if (name === "keys") return putOutput(app, "/keys", app.keys.text(app.words.act.ownKeys));
    if (name === "reload") return this.#reload();
    if (name === "permissions") await runCommand(app, ["grants", String(app.pid)], "/permissions");
    const change = CHANGES[name === "permissions" ? "add-dir" : name];
    if (change !== undefined) return change(app, text);
    if (name === "vim") {
      app.vim = app.vim === undefined ? VIM : undefined;
      return keepPreference(app, "ui.vim", app.vim !== undefined);
    }
    if (name === "clear") {
      const { before, after } = await app.client.request("context.clear", { pid: app.pid });
      app.say(words.emptied(before, after));
    } else {
      app.say(words.summarising);
      const { before, after } = await app.client.compact(app.pid, text);
      app.say(words.shortened(before, after), "success");
    }
    await this.learnFacts();
  }

  /** A message that cannot be sent stands in the editor again. */
  async say(text: string): Promise<void> {
    const app = this.#app;
    if (app.pid === 0) {
      this.#unsent.push(text);
      const seq = -this.#unsent.length;
      app.model = { ...app.model, queued: [...app.model.queued, { seq, text, isMine: true }] };
      return;
    }
    try {
      const pictures = this.#pictures.of(text);
      await app.client.say(app.pid, text, pictures.length === 0 ? undefined : pictures);
    } catch (error) {
      const { text: typed } = app.editing.buffer;
      app.editing = replaced(app.editing, typed === "" ? text : `${text}\n${typed}`);
      throw error;
    }
  }

  /** What the model shall know with the next message. */
  async #tell(note: string): Promise<void> {
    if (this.#app.pid === 0) this.#unsent.push(note);
    else await this.#app.client.say(this.#app.pid, note);
  }

  #now(text: string): boolean {
    const app = this.#app;
    if (text.trim() === "") return true;
    app.do(async () => {
      if (app.isRunning) await app.client.interrupt(app.pid);
      await this.say(text);
    });
    return true;
  }

  /** What is read by itself only when the session is opened, or when it is needed. */
  async #reload(): Promise<void> {
    const app = this.#app;
    await app.prefer();
    await this.#learnSkills();
    app.say(app.words.act.reloaded(app.skills.length), "success");
  }

  /** Nothing is sent where there is no such skill. */
  async #skill(text: string): Promise<void> {
    const name = /^\/(\S+)/.exec(text)?.[1] ?? "";
    const isKnown = (): boolean =>
      this.#app.skills.some((skill) => skill.name.toLowerCase() === name.toLowerCase());
    // it may be newer than the list, which may not even have come
    if (!isKnown()) await this.#learnSkills();
    if (isKnown()) return this.say(text);
    const { act, help } = this.#app.words;
    const instead = Object.hasOwn(help.instead, name) ? help.instead[name] : undefined;
    if (instead !== undefined) return this.#app.say(act.notHere(name, instead), "error");
    const near = nearOnes(
      name,
      this.#app.skills.map((skill) => skill.name),
    );
    const others = near.map((each) => `/${each}`).join(", ");
    this.#app.say(act.noSkill(name, others), "error");
  }

  async #mode(mode: PermissionMode | undefined, text: string): Promise<void> {
    const now = await this.#app.client.mode(this.#app.pid, mode);
    this.#showMode(now.mode);
    if (mode === undefined) this.#app.say(this.#app.words.act.mode(now.mode, now.ceiling));
    if (text !== "") await this.say(text);
  }

  #showMode(mode: PermissionMode): void {
    this.#app.model = { ...this.#app.model, mode };
  }

  async #takeBack(): Promise<void> {
    const app = this.#app;
    const last = app.model.queued.findLast(({ isMine, seq }) => isMine && seq > 0);
    if (last === undefined) return app.say(app.words.act.noneWaits);
    try {
      await app.client.withdraw(app.pid, last.seq);
      app.editing = replaced(app.editing, last.text);
    } catch (error) {
      if (codeOf(error) !== "NOT_FOUND" && codeOf(error) !== "CONFLICT") throw error;
      app.say(app.words.act.wasRead);
    }
  }

  /** The text is edited in the user's editor, which has the terminal meanwhile. */
  async #edit(): Promise<void> {
    const app = this.#app;
    const editor = editorOf(app.call.host.env);
    if (editor === undefined) return app.say(app.words.act.noEditor, "error");
    const text = sentText(app.editing.buffer);
    await app.yielded(() => {
      app.editing = replaced(app.editing, editText(editor, text, "message.md").replace(/\n$/, ""));
    });
  }
}
