/** The transcript as a view of the whole screen. */
import type { Size } from "../../cli/screen/top/frame.ts";
import type { FullView } from "../drive/overlay.ts";
import type { Press } from "../editor/keys.ts";
import type { Model } from "../state/model.ts";
import type { Line } from "../text/line.ts";
import type { EntryLook } from "../view/entry-lines.ts";
import { openTranscript, type Transcript, transcriptKey, transcriptRows } from "../view/transcript.ts";

export class TranscriptView implements FullView {
  readonly #model: Model;
  #now: Transcript | undefined;
  #width = 0;

  constructor(model: Model) {
    this.#model = model;
  }

  lines(size: Size, look: EntryLook): readonly Line[] {
    if (this.#now === undefined || this.#width !== size.columns)
      this.#now = openTranscript(this.#model, look, size);
    this.#width = size.columns;
    return transcriptRows(this.#now, size, look);
  }

  press(press: Press, { rows }: Size): boolean {
    if (this.#now === undefined) return false;
    this.#now = transcriptKey(this.#now, press, rows);
    return this.#now !== undefined;
  }
}
