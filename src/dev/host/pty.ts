/**
 * Terminals for programs: a pair of fds from @lydell/node-pty. The program gets the one as its stdin, stdout and stderr,
 * the daemon reads and writes the other. node-pty starts no program here: programs keep their namespaces and sandboxes.
 */
import { closeSync, constants, openSync } from "node:fs";
import { createRequire } from "node:module";
import { Writable } from "node:stream";
import { ReadStream } from "node:tty";
import type { WindowSize } from "../../abi/native.ts";
import { driverError } from "../driver-error.ts";

interface NativePty {
  /** Neither of the fds blocks; `pty` is the path of the program's end. */
  open(cols: number, rows: number): { readonly master: number; readonly slave: number; readonly pty: string };
  resize(fd: number, cols: number, rows: number): void;
}

interface Loader {
  requireBinary(file: string): NativePty;
}

const END_OF_TEXT = "\x04";

export class Pty {
  /** The program's end; ours only until the program has it. */
  readonly slave: number;
  readonly output: ReadStream;
  readonly input: Writable;
  readonly #native: NativePty;
  readonly #master: number;

  constructor({ cols, rows }: WindowSize) {
    this.#native = load();
    const { master, slave, pty } = this.#native.open(cols, rows);
    this.#master = master;
    // opened anew: programs expect that a read waits for input
    this.slave = openSync(pty, constants.O_RDWR | constants.O_NOCTTY);
    closeSync(slave);
    this.output = new ReadStream(master);
    const { output } = this;
    this.input = new Writable({
      write: (chunk, _encoding, done) => void output.write(chunk, (error) => done(error ?? null)),
      final: (done) => void output.write(END_OF_TEXT, () => done()),
    });
  }

  resize({ cols, rows }: WindowSize): void {
    if (!this.output.destroyed) this.#native.resize(this.#master, cols, rows);
  }

  /** The program has its end, or did not start. */
  release(): void {
    closeSync(this.slave);
  }
}

/** UNAVAILABLE: the library does not load on this machine. */
function load(): NativePty {
  try {
    const require = createRequire(import.meta.url);
    return (require("@lydell/node-pty/requireBinary.js") as Loader).requireBinary("pty.node");
  } catch (cause) {
    throw driverError("Open", "UNAVAILABLE", `terminals are not available here: ${String(cause)}`);
  }
}
