/**
 * The modes of the terminal while it is ours: raw keys, marked pastes, keys with their modifiers. However the client ends they
 * are set back. SIGKILL leaves them; a note beside the socket then says so, and the next `bin/crux` on this terminal sets them
 * back: Node itself puts a terminal, at its end, into the modes in which it found it.
 */
import { mkdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Terminal } from "../../cli/terminal/streams.ts";

/** Pastes marked; keys told apart (kitty's protocol, first level), where the terminal knows it. */
const ENTER = "\x1b[?2004h\x1b[>1u";
const LEAVE = "\x1b[<u\x1b[?2004l\x1b[?2026l\x1b[0m\x1b[?25h";

export class Tty implements Disposable {
  readonly #host: Terminal;
  readonly #note: string | undefined;
  #release: () => void = () => {};
  #isOurs = false;

  /** `runtime`: the directory of the socket; undefined: nothing is noted. */
  constructor(host: Terminal, runtime: string | undefined) {
    this.#host = host;
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
  }

  leave(): void {
    if (!this.#isOurs) return;
    this.#release();
    this.#restore();
  }

  [Symbol.dispose](): void {
    this.leave();
  }

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
