/**
 * Draws the conversation, at most once in 16 ms: what is finished goes above for good, the rest stands in the live part.
 */

import { uiAtStart } from "../cli/run/ui-at-start.ts";
import type { App } from "./app.ts";
import { InlineScreen } from "./drive/inline-screen.ts";
import { selectedIn } from "./editor/vim.ts";
import { isFinal } from "./state/model.ts";
import { newlyShown, shownFurther } from "./state/shown.ts";
import type { Line } from "./text/line.ts";
import { type EntryLook, restLines } from "./view/entry-lines.ts";
import { type Frame, liveFrame, type Scene } from "./view/frame.ts";
import { offerLines } from "./view/offer-lines.ts";

const FRAME_MS = 16;
const TICK_MS = 250;
/** What is not above of an answer is looked at again, for blocks that are over, when it is so many times as long. */
const LOOK_AGAIN = 1.02;

export class Painter {
  readonly #app: App;
  readonly #screen: InlineScreen;
  /** Entries that are on the screen for good, counted with those that were dropped. */
  #committed = 0;
  /** How many characters it had when it was last looked at. */
  #lookedAt = 0;
  #drawing: NodeJS.Timeout | undefined;
  #drawnMono = Number.NEGATIVE_INFINITY;
  #ticking: NodeJS.Timeout | undefined;
  /** The conversation has the whole screen, and nothing goes into the scrollback. */
  readonly #isWhole: boolean;
  #isInWhole = false;

  constructor(app: App) {
    this.#app = app;
    this.#isWhole = uiAtStart(app.call.host.env).isWhole;
    this.#screen = new InlineScreen(app.call.host.stdout);
  }

  /** Once for all that changes until then. */
  soon(): void {
    if (this.#drawing !== undefined) return;
    const due = Math.max(0, this.#drawnMono + FRAME_MS - this.#app.nowMono);
    this.#drawing = setTimeout(() => this.now(), due);
  }

  now(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    if (this.#app.hasEnded) return;
    const { box, overlay, model, appearance, status, vim, nowMono } = this.#app;
    this.#drawnMono = nowMono;
    box.settle();
    this.#tick();
    status.saw([model.mode, vim?.mode, model.model, model.costUsd, model.context].join());
    if (overlay.isOpen) {
      overlay.draw();
      return;
    }
    if (this.#isWhole) {
      this.#drawWhole();
      return;
    }
    const { entries, dropped } = model;
    const open = entries.findIndex((entry) => !isFinal(entry));
    const until = open < 0 ? entries.length : open;
    const above = this.#finished(until);
    // code goes above for good once its colours are there
    const isReady = !appearance.highlighter.isLoading;
    if (isReady) this.#committed = Math.max(this.#committed, dropped + until);
    const frame = this.#frame();
    const begun = isReady && frame.isOver === true && !box.isOpen ? this.#further(until) : [];
    this.#screen.draw(isReady ? [...above, ...begun] : [], begun.length > 0 ? this.#frame() : frame);
  }

  /** The lines of an answer that has outgrown the screen, as far as its blocks are over: they go above while the rest comes. */
  #further(from: number): readonly Line[] {
    const { model, look, appearance } = this.#app;
    const last = model.entries.at(-1);
    if (last?.kind !== "text") return [];
    const rest = last.text.length - (last.shown?.chars ?? 0);
    // a long block is not read again for each piece of it
    if (rest >= this.#lookedAt && rest < this.#lookedAt * LOOK_AGAIN) return [];
    this.#lookedAt = rest;
    const next = shownFurther(model, from);
    const lines = newlyShown(model, next).flatMap((entry) => restLines(entry, look));
    if (lines.length === 0 || appearance.highlighter.isLoading) return [];
    this.#app.model = next;
    return lines;
  }

  /** Takes what it has drawn off the screen. */
  clear(): void {
    if (this.#isInWhole) this.#app.overlay.screen.leave();
    else this.#screen.clear();
    this.#isInWhole = false;
  }

  resized(): void {
    if (this.#isWhole) this.#app.overlay.screen.resized();
    else this.#screen.resized(this.#app.size.columns);
  }

  /** The end of the transcript, as much as there is room for; the editor stands at the bottom. */
  #drawWhole(): void {
    const { overlay, size } = this.#app;
    if (!this.#isInWhole) overlay.screen.enter();
    this.#isInWhole = true;
    const { lines, cursor } = this.#frame({ committed: 0 });
    const blank = Array.from({ length: Math.max(0, size.rows - 1 - lines.length) }, (): Line => []);
    const row = (cursor?.row ?? 0) + blank.length;
    overlay.screen.draw([...blank, ...lines], cursor && { ...cursor, row });
  }

  /** All that was said is above, and the live part is gone. The whole screen is left as it was before. */
  end(): void {
    clearTimeout(this.#drawing);
    clearInterval(this.#ticking);
    if (this.#isWhole) {
      this.clear();
      return;
    }
    this.#screen.draw(this.#finished(this.#app.model.entries.length), { lines: [], cursor: undefined });
    this.#screen.clear();
  }

  #frame(more: Partial<Scene> = {}): Frame {
    const frame = liveFrame({ ...this.#scene(), ...more });
    if (frame.scrolled !== undefined) this.#app.box.drawn(frame.scrolled);
    return frame;
  }

  #scene(): Scene {
    const app = this.#app;
    const { look, size, editing, model } = app;
    return {
      model,
      committed: this.#committed - model.dropped,
      editing,
      dialog: app.box.rows(size.columns - 1, look.theme.text, editing.buffer.text !== ""),
      offers: offerLines(app.actions.suggestions.offers(), look),
      below: [...this.#statusRows(look), ...app.below, ...app.actions.panel.lines(look)],
      hint: app.shownHint,
      vim: app.vim?.mode,
      selected: selectedIn(app.vim, editing.buffer),
      look,
      size,
      nowMono: app.nowMono,
      reducesMotion: app.preferences.reducesMotion || app.call.host.env.CRUX_REDUCE_MOTION === "1",
    };
  }

  /** On the whole screen nothing moves when its first text comes. */
  #statusRows(look: EntryLook): readonly Line[] {
    const { status } = this.#app;
    const lines = status.lines(look);
    return this.#isWhole && status.isOn && lines.length === 0 ? [[]] : lines;
  }

  /** The lines of what goes above for good. */
  #finished(until: number): readonly Line[] {
    const { model, look } = this.#app;
    const from = Math.max(0, this.#committed - model.dropped);
    return model.entries.slice(from, until).flatMap((entry) => restLines(entry, look));
  }

  /** One clock, and only while something moves. */
  #tick(): void {
    const isMoving = this.#app.isRunning || this.#app.box.isOpen;
    if (isMoving) this.#ticking ??= setInterval(() => this.soon(), TICK_MS);
    else {
      clearInterval(this.#ticking);
      this.#ticking = undefined;
    }
  }
}
