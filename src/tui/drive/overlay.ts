/** Views that take the whole screen for a while. The conversation goes on below them. */
import type { Size } from "../../cli/screen/top/frame.ts";
import type { Output } from "../../cli/terminal/streams.ts";
import type { Press } from "../editor/keys.ts";
import { cutLine, type Line } from "../text/line.ts";
import type { EntryLook } from "../view/entry-lines.ts";
import { AltScreen, type OnEnd } from "./alt-screen.ts";
import type { DialogBox } from "./dialog-box.ts";

export interface FullView {
  lines(size: Size, look: EntryLook): readonly Line[];
  /** False: the user left it. */
  press(press: Press, size: Size): boolean;
  /** It is not shown any more. */
  closed?(): void;
}

interface Below {
  readonly look: EntryLook;
  readonly size: Size;
  /** Where a question waits that the view hides. */
  readonly box: Pick<DialogBox, "isOpen" | "appeared">;
  changed(): void;
  /** As AltScreen has it. */
  readonly onEnd?: OnEnd;
}

export class Overlay implements Disposable {
  readonly #below: Below;
  /** What is below may take it too. */
  readonly screen: AltScreen;
  #view: FullView | undefined;

  constructor(output: Output, below: Below) {
    this.#below = below;
    this.screen = new AltScreen(output, (undo) => below.onEnd?.(undo) ?? (() => {}));
  }

  get isOpen(): boolean {
    return this.#view !== undefined;
  }

  /** In place of the one that is open. */
  open(view: FullView): void {
    if (this.#view === undefined) this.screen.enter();
    this.#view?.closed?.();
    this.#view = view;
    this.draw();
  }

  press(press: Press): void {
    const view = this.#view;
    if (view === undefined) return;
    // a key may also open another view in its place
    if (!view.press(press, this.#below.size) && this.#view === view) this.close();
    else this.draw();
  }

  draw(): void {
    const { size, look, box } = this.#below;
    if (this.#view === undefined) return;
    const lines = this.#view.lines(size, look);
    this.screen.draw(box.isOpen ? marked(lines, size, look) : lines);
  }

  resized(): void {
    this.screen.resized();
  }

  close(): void {
    this.#view?.closed?.();
    if (this.#view !== undefined) this.screen.leave();
    this.#view = undefined;
    this.#below.box.appeared();
    this.#below.changed();
  }

  [Symbol.dispose](): void {
    if (this.isOpen) this.close();
  }
}

/** The view in whose last line it stands that a question waits. */
function marked(lines: readonly Line[], { columns }: Size, { theme, words }: EntryLook): readonly Line[] {
  const last: Line = [
    { text: `! ${words.live.questionWaits} · `, style: theme.warning },
    ...(lines.at(-1) ?? []),
  ];
  return [...lines.slice(0, -1), cutLine(last, columns - 1)];
}
