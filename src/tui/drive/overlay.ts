/** A view that takes the whole screen for a while: the transcript. The conversation goes on below it. */
import type { Size } from "../../cli/screen/top/frame.ts";
import type { Output } from "../../cli/terminal/streams.ts";
import type { Press } from "../editor/keys.ts";
import type { Model } from "../state/model.ts";
import type { EntryLook } from "../view/entry-lines.ts";
import { openTranscript, type Transcript, transcriptKey, transcriptRows } from "../view/transcript.ts";
import { AltScreen } from "./alt-screen.ts";

interface Below {
  readonly model: Model;
  readonly look: EntryLook;
  readonly size: Size;
  changed(): void;
}

export class Overlay implements Disposable {
  readonly #output: Output;
  readonly #below: Below;
  #screen: AltScreen | undefined;
  #transcript: Transcript | undefined;

  constructor(output: Output, below: Below) {
    this.#output = output;
    this.#below = below;
  }

  get isOpen(): boolean {
    return this.#transcript !== undefined;
  }

  openTranscript(): void {
    const { model, look, size } = this.#below;
    this.#transcript = openTranscript(model, look, size);
    this.#screen = new AltScreen(this.#output);
    this.draw();
  }

  press(press: Press): void {
    if (this.#transcript === undefined) return;
    this.#transcript = transcriptKey(this.#transcript, press, this.#below.size.rows);
    if (this.#transcript === undefined) this.#close();
    else this.draw();
  }

  draw(): void {
    if (this.#transcript !== undefined)
      this.#screen?.draw(transcriptRows(this.#transcript, this.#below.size, this.#below.look));
  }

  resized(): void {
    const { model, look, size } = this.#below;
    this.#screen?.resized();
    if (this.#transcript !== undefined) this.#transcript = openTranscript(model, look, size);
  }

  [Symbol.dispose](): void {
    if (this.isOpen) this.#close();
  }

  #close(): void {
    this.#transcript = undefined;
    this.#screen?.[Symbol.dispose]();
    this.#screen = undefined;
    this.#below.changed();
  }
}
