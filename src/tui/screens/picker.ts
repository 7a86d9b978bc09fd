/** A view to choose one thing from a list. What is shown of the marked one is read when it is marked, one at a time. */
import type { Size } from "../../cli/screen/top/frame.ts";
import type { FullView } from "../drive/overlay.ts";
import type { Press } from "../editor/keys.ts";
import type { Line } from "../text/line.ts";
import { type Choice, choiceKey, choiceLines, fitting, markedOf, UNFILTERED } from "../view/choice.ts";
import type { EntryLook } from "../view/entry-lines.ts";

export interface Pickable<T> {
  readonly value: T;
  readonly words: string;
  /** Safe to show. */
  readonly text: string;
}

export interface PickerWish<T> {
  readonly title: string;
  readonly hint: string;
  readonly emptyText: string;
  readonly items: readonly Pickable<T>[];
  /** Lines that are safe to show. */
  preview(value: T): Promise<readonly string[]>;
  /** Enter. The view has closed, unless another one was opened meanwhile. */
  chosen(value: T): void;
  /** Another list, by Tab. */
  readonly tab?: () => PickerWish<T>;
  /** Something was read, and is to be drawn. */
  changed(): void;
}

export class Picker<T> implements FullView {
  #wish: PickerWish<T>;
  readonly #left: () => void;
  #choice: Choice = UNFILTERED;
  readonly #previews = new Map<T, readonly string[]>();
  #isReading = false;
  #isOver = false;

  /** `left`: nothing more is chosen; it comes after a choice, too. */
  constructor(wish: PickerWish<T>, left: () => void = () => {}) {
    this.#wish = wish;
    this.#left = left;
  }

  lines(size: Size, look: EntryLook): readonly Line[] {
    const rows = fitting(this.#wish.items, this.#choice);
    const value = markedOf(rows, this.#choice)?.value;
    if (value !== undefined) void this.#read(value);
    const preview = value === undefined ? undefined : this.#previews.get(value);
    const { title, hint, emptyText } = this.#wish;
    return choiceLines({ title, hint, emptyText, rows, choice: this.#choice, preview }, size, look);
  }

  press(press: Press, { rows: height }: Size): boolean {
    const rows = fitting(this.#wish.items, this.#choice);
    const name = press.kind === "key" ? press.name : "";
    if (name === "escape" || name === "ctrl+c" || name === "ctrl+d") return false;
    if (name === "tab" && this.#wish.tab !== undefined) {
      this.#wish = this.#wish.tab();
      this.#choice = { ...this.#choice, at: 0 };
      return true;
    }
    if (name === "enter") {
      const marked = markedOf(rows, this.#choice);
      if (marked === undefined) return true;
      this.#wish.chosen(marked.value);
      return false;
    }
    this.#choice = choiceKey(this.#choice, press, rows.length, Math.max(1, height - 4)) ?? this.#choice;
    return true;
  }

  closed(): void {
    this.#isOver = true;
    this.#left();
  }

  async #read(value: T): Promise<void> {
    if (this.#isReading || this.#previews.has(value)) return;
    this.#isReading = true;
    const lines = await this.#wish.preview(value);
    this.#isReading = false;
    this.#previews.set(value, lines);
    if (!this.#isOver) this.#wish.changed();
  }
}
