/**
 * The output of a binary connection. Answers are written at once; events and chunks wait for `room`, so what is unsent
 * is bounded by the answers to open requests and one message of each subscription.
 */
import type { Socket } from "node:net";
import { IPC } from "../../../abi/ipc.ts";
import type { Clock } from "../../../abi/program.ts";

/** Frames up to this size are copied together, so that a tick of small answers is one write. */
const SMALL_BYTES = 8 * 1024;
/** … and up to so much of them. */
const JOINED_BYTES = 64 * 1024;
/** Large frames are sent in pieces, so that a slow but living reader shows progress. */
const PIECE_BYTES = 512 * 1024;
/** Subscriptions wait while so much is unsent: answers come first. */
const FULL_BYTES = 256 * 1024;

export class FrameWriter {
  readonly #socket: Socket;
  readonly #clock: Pick<Clock, "mono">;
  #waiting = 0;
  #waitingSince: number | undefined;
  #isJoining = false;
  #isCorked = false;
  /** Small frames of this tick, in order, and their bytes. */
  #small: Buffer[] = [];
  #smallBytes = 0;
  /** Subscriptions that wait, served in turn. */
  #turns: (() => void)[] = [];

  constructor(socket: Socket, clock: Pick<Clock, "mono">) {
    this.#socket = socket;
    this.#clock = clock;
    socket.on("close", () => this.#wakeAll());
  }

  /** How long the reader has not accepted a pending byte, in ms; 0 if none is pending. */
  stalledMs(now: number): number {
    return this.#waitingSince === undefined ? 0 : now - this.#waitingSince;
  }

  /** Too much is unsent: nothing more is read from this client. */
  get isFull(): boolean {
    return this.#unsent >= IPC.maxUnsentBytes;
  }

  get #unsent(): number {
    return this.#socket.writableLength + this.#smallBytes;
  }

  /** One frame or several, which may not change before `onSent`: large ones are not copied. */
  send(frames: Buffer, onSent?: () => void): void {
    if (!this.#socket.writable) {
      onSent?.();
      return;
    }
    if (!this.#isJoining) this.#joinTick();
    if (frames.length > SMALL_BYTES) {
      this.#putAll(frames, onSent);
      return;
    }
    this.#small.push(onSent === undefined ? frames : Buffer.from(frames));
    this.#smallBytes += frames.length;
    onSent?.();
    if (this.#smallBytes >= JOINED_BYTES) this.#putSmall();
  }

  /** Several writes of a tick become one. */
  #putAll(bytes: Buffer, onSent?: () => void): void {
    if (this.#isJoining && !this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
    }
    this.#putSmall();
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const isLast = at + PIECE_BYTES >= bytes.length;
      this.#put(bytes.subarray(at, at + PIECE_BYTES), isLast ? onSent : undefined);
    }
  }

  /** Before the socket is ended: nothing can be written behind that. */
  flush(): void {
    this.#putSmall();
  }

  #putSmall(): void {
    const [first] = this.#small;
    if (first === undefined) return;
    const joined = this.#small.length === 1 ? first : Buffer.concat(this.#small, this.#smallBytes);
    this.#small = [];
    this.#smallBytes = 0;
    this.#put(joined);
  }

  /** Resolves in turn, when there is room for a message of a subscription, or when nothing can be sent any more. */
  async room(): Promise<void> {
    while (this.#socket.writable && this.#unsent >= FULL_BYTES)
      await new Promise<void>((resolve) => this.#turns.push(resolve));
  }

  /** What is sent meanwhile goes out at its end, together and at once. */
  together(act: () => void): void {
    this.#isJoining = true;
    try {
      act();
    } finally {
      this.#sendJoined();
    }
  }

  /** Output of the same tick is sent together. */
  #joinTick(): void {
    this.#isJoining = true;
    process.nextTick(() => this.#sendJoined());
  }

  #sendJoined(): void {
    this.#isJoining = false;
    this.#putSmall();
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#socket.uncork();
  }

  #put(piece: Buffer, onSent?: () => void): void {
    this.#waiting++;
    this.#waitingSince ??= this.#clock.mono();
    this.#socket.write(piece, () => {
      this.#waitingSince = --this.#waiting === 0 ? undefined : this.#clock.mono();
      onSent?.();
      // who is woken may have nothing to send; nobody waits for it once there is nothing more that calls back
      if (this.#waiting === 0) this.#wakeAll();
      else if (this.#socket.writableLength < FULL_BYTES) this.#turns.shift()?.();
    });
  }

  #wakeAll(): void {
    for (const wake of this.#turns.splice(0)) wake();
  }
}
