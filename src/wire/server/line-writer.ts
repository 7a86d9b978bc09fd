/**
 * The output of a connection. One line at a time: the caller waits while more than one piece has not been accepted by
 * the system, so little accumulates here and the waiting data is bounded at its source (the kernel's queues, the
 * unanswered lines).
 */
import type { Socket } from "node:net";
import type { Clock } from "../../abi/program.ts";

/** Long lines are sent in pieces, so that a slow but living reader shows progress. */
const PIECE_BYTES = 64 * 1024;

export class LineWriter {
  readonly #socket: Socket;
  readonly #clock: Clock;
  /** Pieces that the system has not accepted. */
  #waiting = 0;
  #waitingSince: number | undefined;
  #isJoining = false;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /** How long the reader has not accepted a pending byte, in ms; 0 if none is pending. */
  stalledMs(now: number): number {
    return this.#waitingSince === undefined ? 0 : now - this.#waitingSince;
  }

  /** False: the client has left. Not to be called again before it resolves. */
  async write(line: string): Promise<boolean> {
    const bytes = Buffer.from(line);
    if (bytes.length + this.#socket.writableLength <= PIECE_BYTES) {
      if (!this.#socket.writable) return false;
      void this.#put(bytes);
      this.#joinNext();
      return true;
    }
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      if (!this.#socket.writable) return false;
      if ((await this.#put(bytes.subarray(at, at + PIECE_BYTES))) !== undefined) return false;
    }
    return true;
  }

  /** Output of the same tick is sent together: mostly the answers to requests that arrived together. */
  #joinNext(): void {
    if (this.#isJoining) return;
    this.#isJoining = true;
    this.#socket.cork();
    process.nextTick(() => {
      this.#isJoining = false;
      this.#socket.uncork();
    });
  }

  /** Resolves when the system has accepted the piece; an error: it will not. */
  #put(piece: Buffer): Promise<Error | undefined> {
    this.#waiting++;
    this.#waitingSince ??= this.#clock.mono();
    return new Promise((resolve) =>
      this.#socket.write(piece, (error) => {
        this.#waitingSince = --this.#waiting === 0 ? undefined : this.#clock.mono();
        resolve(error ?? undefined);
      }),
    );
  }
}
