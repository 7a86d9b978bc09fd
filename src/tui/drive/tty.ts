/**
 * The modes of the terminal while it is ours: raw keys, marked pastes, keys with their modifiers. However the client ends they
 * are set back. SIGKILL leaves them; a note beside the socket then says so, and the next `bin/crux` on this terminal sets them
 * back: Node itself puts a terminal, at its end, into the modes in which it found it.
 */
import { mkdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Terminal } from "../../cli/terminal/streams.ts";
import { TypedReader } from "../../cli/terminal/typed.ts";
import { type Press, pressOf } from "../editor/keys.ts";

/** Pastes marked; the focus reported; keys told apart (kitty's protocol, first level), where the terminal knows it. */
const ENTER = "\x1b[?2004h\x1b[?1004h\x1b[>1u";
const LEAVE = "\x1b[<u\x1b[?2004l\x1b[?1004l\x1b[?2026l\x1b[0m\x1b[?25h";

interface TtyListener {
  /** What is left of it once answers of the terminal are taken out. */
  typed(chunk: Buffer): Buffer;
  press(press: Press): void;
  resized(): void;
  /** Nobody types any more. */
  gone(): void;
}

export class Tty implements Disposable {
  readonly #listener: TtyListener;
  readonly #reader = new TypedReader();
  readonly #host: Terminal;
  readonly #note: string | undefined;
  #release: () => void = () => {};
  #isOurs = false;

  /** `runtime`: the directory of the socket; undefined: nothing is noted. */
  constructor(host: Terminal, runtime: string | undefined, listener: TtyListener) {
    this.#host = host;
    this.#listener = listener;
    this.#note = runtime === undefined ? undefined : noteOfTerminal(runtime);
  }

  /** `question`: what the terminal is asked. */
  enter(question: string): void {
    if (this.#isOurs) return;
    this.#isOurs = true;
    this.#release = this.#host.lifecycle.onEnd(() => this.#restore());
    this.#host.stdin.setRawMode?.(true);
    this.#write(ENTER + question);
    if (this.#note !== undefined) noteHolder(this.#note);
    const { stdin, stdout } = this.#host;
    stdin.on("data", this.#input);
    stdin.on("end", this.#gone);
    stdin.resume();
    stdout.on?.("resize", this.#resized);
  }

  leave(): void {
    if (!this.#isOurs) return;
    const { stdin, stdout } = this.#host;
    stdin.off("data", this.#input);
    stdin.off("end", this.#gone);
    stdin.pause();
    stdout.off?.("resize", this.#resized);
    this.#release();
    this.#restore();
  }

  [Symbol.dispose](): void {
    this.leave();
  }

  readonly #input = (chunk: Buffer): void => {
    for (const typed of this.#reader.take(this.#listener.typed(chunk))) {
      const press = pressOf(typed);
      if (press !== undefined) this.#listener.press(press);
    }
  };

  readonly #gone = (): void => this.#listener.gone();

  readonly #resized = (): void => this.#listener.resized();

  #restore(): void {
    this.#isOurs = false;
    if (this.#note !== undefined) rmSync(this.#note, { force: true });
    this.#write(LEAVE);
    try {
      this.#host.stdin.setRawMode?.(false);
    } catch {
      // the terminal itself is gone
    }
  }

  #write(text: string): void {
    this.#host.stdout.write(text, () => {});
  }
}

function noteHolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${process.pid}\n`, { mode: 0o600 });
  } catch {
    // the note only helps after a SIGKILL
  }
}

/** undefined: stdin is not a terminal with a name. */
function noteOfTerminal(runtime: string): string | undefined {
  try {
    const name = readlinkSync("/proc/self/fd/0");
    return name.startsWith("/dev/") ? `${runtime}/tty${name.slice(4).replaceAll("/", "-")}` : undefined;
  } catch {
    return undefined;
  }
}
