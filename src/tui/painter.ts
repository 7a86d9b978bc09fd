/**
 * Draws the conversation, at most once in 16 ms: what is finished goes above for good, the rest stands in the live part.
 */

import { uiAtStart } from "../cli/run/ui-at-start.ts";
import type { App } from "./app.ts";
import { InlineScreen } from "./drive/inline-screen.ts";
import { selectedIn } from "./editor/vim.ts";
import { isFinal } from "./state/model.ts";
import type { Line } from "./text/line.ts";
import { type EntryLook, entryLines } from "./view/entry-lines.ts";
import { type Frame, liveFrame, type Scene } from "./view/frame.ts";
import { offerLines } from "./view/offer-lines.ts";

const FRAME_MS = 16;
const TICK_MS = 250;

export class Painter {
  readonly #app: App;
  readonly #screen: InlineScreen;
  /** Entries that are on the screen for good, counted with those that were dropped. */
  #committed = 0;
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
    this.#screen.draw(isReady ? above : [], this.#frame());
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
    return model.entries.slice(from, until).flatMap((entry) => entryLines(entry, look));
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
