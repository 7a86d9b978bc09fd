/** The table of `crux top` over the conversation: the same rows, keys and last line; Esc leaves it too. */
import { messageOf } from "../../abi/errors.ts";
import type { WireRow } from "../../abi/methods/process.ts";
import type { DaemonAccess } from "../../cli/daemon/client.ts";
import { carryOut, look, untilNextLook } from "../../cli/run/top-daemon.ts";
import type { Key, KeyName } from "../../cli/screen/keys.ts";
import { pageOf, type Size, topFrame } from "../../cli/screen/top/frame.ts";
import { arrange, type Snapshot, type TopRow } from "../../cli/screen/top/rows.ts";
import { TokenRates } from "../../cli/screen/top/token-rates.ts";
import { keepInSight, onKey, type PidList, type TopAction, topView } from "../../cli/screen/top/view.ts";
import type { FullView } from "../drive/overlay.ts";
import type { Press } from "../editor/keys.ts";
import { colouredLine, type Line, plain } from "../text/line.ts";
import type { EntryLook } from "../view/entry-lines.ts";

const LOOK_MS = 1_000;
const NAMES: Readonly<Record<string, KeyName>> = {
  ...{ up: "up", down: "down", pageup: "page_up", pagedown: "page_down", home: "home", end: "end" },
  ...{ enter: "enter", escape: "escape", backspace: "backspace", "ctrl+c": "ctrl_c" },
};

interface TopWish {
  readonly daemon: Pick<DaemonAccess, "ensure">;
  /** For a process that is resumed. */
  readonly env: Readonly<Record<string, string | undefined>>;
  changed(): void;
  /** Enter; why not, or "". */
  chosen(row: WireRow): string;
}

export class TopScreen implements FullView {
  readonly #wish: TopWish;
  readonly #rates = new TokenRates();
  #view = topView({ sort: "rate", showsAll: false });
  #snapshot: Snapshot | undefined;
  #rows: readonly TopRow[] = [];
  /** What is asked goes one after the other; never rejects. */
  #asked: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(wish: TopWish) {
    this.#wish = wish;
    this.#lookSoon();
  }

  lines(size: Size, { words }: EntryLook): readonly Line[] {
    const snapshot = this.#snapshot;
    if (snapshot === undefined) return [plain(this.#view.message || words.live.reading)];
    this.#view = keepInSight(this.#view, this.#listOn(size));
    const scene = { view: this.#view, snapshot, rows: this.#rows };
    return topFrame(scene, size, { ...words.top, keys: words.top.keysInside }).map(colouredLine);
  }

  press(press: Press, size: Size): boolean {
    return keysOf(press).every((key) => this.#key(key, size));
  }

  closed(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #listOn(size: Size): PidList {
    return { pids: this.#rows.map(({ row }) => row.pid), page: pageOf(size) };
  }

  /** False: the user left it. */
  #key(key: Key, size: Size): boolean {
    const { prompt, filter } = this.#view;
    const isEscape = key.kind === "named" && key.name === "escape";
    if (isEscape && prompt.kind === "none" && filter === "") return false;
    const { view, action } = onKey(this.#view, key, this.#listOn(size));
    this.#view = view;
    this.#arrange();
    return this.#act(action);
  }

  #act(action: TopAction): boolean {
    if (action.kind === "signal" || action.kind === "budget") {
      this.#ask(async (client) => this.#say(await carryOut(client, action, this.#wish.env)));
      this.#lookSoon();
    }
    if (action.kind === "attach") {
      const row = this.#rows.find((each) => each.row.pid === action.pid)?.row;
      if (row !== undefined) this.#say(this.#wish.chosen(row));
    }
    return action.kind !== "quit";
  }

  #say(message: string): void {
    this.#view = { ...this.#view, message };
  }

  #arrange(): void {
    if (this.#snapshot !== undefined) this.#rows = arrange(this.#snapshot, this.#view);
  }

  #lookSoon(): void {
    this.#ask(async (client) => {
      clearTimeout(this.#timer);
      this.#snapshot = await look(client, this.#rates);
      this.#arrange();
    });
  }

  /** However it went, the next look comes. */
  #ask(act: (client: Awaited<ReturnType<DaemonAccess["ensure"]>>) => Promise<void>): void {
    this.#asked = this.#asked.then(async () => {
      if (this.#isOver) return;
      const begun = performance.now();
      try {
        const client = await this.#wish.daemon.ensure();
        await act(client).finally(() => client.close());
      } catch (error) {
        this.#say(messageOf(error));
      }
      if (this.#isOver) return;
      clearTimeout(this.#timer);
      const wait = untilNextLook(LOOK_MS, performance.now() - begun);
      this.#timer = setTimeout(() => this.#lookSoon(), wait).unref();
      this.#wish.changed();
    });
  }
}

/** Of what was typed at once each letter is a key; what is pasted is none. */
function keysOf(press: Press): readonly Key[] {
  if (press.kind === "text") return Array.from(press.text, (text): Key => ({ kind: "text", text }));
  const name = press.kind === "key" && Object.hasOwn(NAMES, press.name) ? NAMES[press.name] : undefined;
  return name === undefined ? [] : [{ kind: "named", name }];
}
