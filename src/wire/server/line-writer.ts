/**
 * The way out of a connection. One line at a time: its caller waits until the system took it, so nothing piles up here
 * and what waits is bounded where it comes from (the kernel's queues, the lines not yet answered).
 */
import type { Socket } from "node:net";
import type { Clock } from "../../abi/program.ts";

/** Long lines go out in pieces, so that a slow but living reader is seen to make progress. */
const PIECE_BYTES = 64 * 1024;

export class LineWriter {
  readonly #socket: Socket;
  readonly #clock: Clock;
  #waitingSince: number | undefined;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /** How long the reader has not taken a byte that waits for it; 0 when none waits. */
  stalledMs(now: number): number {
    return this.#waitingSince === undefined ? 0 : now - this.#waitingSince;
  }

  /** False: the client is gone. Not to be called again before it resolves. */
  async write(line: string): Promise<boolean> {
    const bytes = Buffer.from(line);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      if (!(await this.#writePiece(bytes.subarray(at, at + PIECE_BYTES)))) return false;
    }
    return true;
  }

  async #writePiece(piece: Buffer): Promise<boolean> {
    if (!this.#socket.writable) return false;
    this.#waitingSince = this.#clock.mono();
    const error = await new Promise<Error | null | undefined>((resolve) =>
      this.#socket.write(piece, resolve),
    );
    this.#waitingSince = undefined;
    return !error;
  }
}
