/** What is offered below the editor: commands and skills for a line that begins with `/`, files for a word with `@`. */
import type { Phrases } from "../cli/screen/words/en.ts";
import { type Editing, replaced } from "./editor/edit.ts";
import { fitting, mentionAt, mentioned } from "./editor/mention.ts";
import { Files } from "./files.ts";
import { type Offer, offersFor } from "./slash.ts";
import type { Offers } from "./view/offer-lines.ts";

/** The editor that they are for. */
interface Edited {
  editing: Editing;
  readonly skills: readonly Offer[];
  readonly cwd: string;
  readonly words: Phrases;
  changed(): void;
  do(act: () => Promise<void>): void;
}

export class Suggestions implements Disposable {
  readonly #app: Edited;
  #files: Files | undefined;
  /** Whether the cursor was in a name of a file. */
  #wasMention = false;
  /** For this text and this many files. */
  #fitting: { readonly key: string; readonly paths: readonly string[] } = { key: "", paths: [] };
  #chosen = 0;
  #offered = "";
  #isDismissed = false;

  constructor(app: Edited) {
    this.#app = app;
  }

  offers(): Offers {
    const { buffer, history, place } = this.#app.editing;
    // a message that was brought back from the history: ↑ and ↓ go on to the others
    if (place >= 0 && history[place] === buffer.text) return { items: [], at: 0, mark: "/" };
    if (buffer.text !== this.#offered)
      [this.#offered, this.#chosen, this.#isDismissed] = [buffer.text, 0, false];
    const names = this.#names();
    const items = this.#isDismissed
      ? []
      : (names ?? offersFor(buffer.text, this.#app.skills, this.#app.words));
    const at = Math.min(this.#chosen, Math.max(0, items.length - 1));
    return { items, at, mark: names === undefined ? "/" : "@" };
  }

  /** True: there was something to choose from. */
  move(name: "up" | "down"): boolean {
    const { items } = this.offers();
    if (items.length === 0) return false;
    this.#chosen = Math.max(0, Math.min(items.length - 1, this.#chosen + (name === "up" ? -1 : 1)));
    this.#app.changed();
    return true;
  }

  /** True: there was something to close. */
  dismiss(): boolean {
    if (this.offers().items.length === 0) return false;
    this.#isDismissed = true;
    this.#app.changed();
    return true;
  }

  complete(): void {
    const { items, at, mark } = this.offers();
    const name = items[at]?.name;
    if (name === undefined) return;
    if (mark === "@") this.#putFile(name);
    else this.#app.editing = replaced(this.#app.editing, `/${name} `);
  }

  /** Before a line is sent: a name begun is completed, a whole one is meant. True: it is not to be sent yet. */
  entered(): boolean {
    const { items, at, mark } = this.offers();
    const { editing } = this.#app;
    const chosen = items[at]?.name;
    const begun = mark === "@" ? mentionAt(editing.buffer)?.begun : editing.buffer.text.slice(1);
    if (chosen === undefined || items.some(({ name }) => name === begun)) return false;
    if (mark === "@") this.#putFile(chosen);
    else this.#app.editing = replaced(editing, `/${chosen}`);
    return mark === "@";
  }

  [Symbol.dispose](): void {
    this.#files?.[Symbol.dispose]();
  }

  /** undefined: the cursor is not in the name of a file. */
  #names(): Offers["items"] | undefined {
    const mention = mentionAt(this.#app.editing.buffer);
    const isNew = mention !== undefined && !this.#wasMention;
    this.#wasMention = mention !== undefined;
    if (mention === undefined) return undefined;
    this.#files ??= new Files(this.#app.cwd, () => this.#app.changed());
    const files = this.#files;
    if (isNew) this.#app.do(() => files.look());
    const key = `${files.paths.length} ${mention.begun}`;
    if (key !== this.#fitting.key) this.#fitting = { key, paths: fitting(files.paths, mention.begun) };
    return this.#fitting.paths.map((name) => ({ name, about: "" }));
  }

  #putFile(path: string): void {
    const { editing } = this.#app;
    const mention = mentionAt(editing.buffer);
    if (mention !== undefined)
      this.#app.editing = { ...editing, buffer: mentioned(editing.buffer, mention, path) };
  }
}
