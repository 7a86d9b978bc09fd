/**
 * The output of a child, in order of arrival. The receiver may hold a stream by returning a promise: then no more is
 * read from it, its pipe fills, and the program waits.
 */
import type { Readable } from "node:stream";
import type { ExecSpec } from "../../kernel/ports/host.ts";
import type { OutputStream, Streams } from "./streams.ts";

/** Another process may hold the pipes open after the exit: silence this long counts as their end … */
const quietMs = 100;
/** … and output is read for no longer than this. */
const drainMs = 1_000;
/** In which a program that writes 4 KiB at a time, as most do, writes a hundred times. */
const momentMs = 1;

export class Output {
  readonly #streams: Streams["outputs"];
  readonly #onOutput: ExecSpec["onOutput"];
  readonly #held = new Set<Readable>();
  #open: number;
  #isAbandoned = false;
  #isOver = false;
  #onChange = (): void => {};

  constructor(streams: Streams["outputs"], onOutput: ExecSpec["onOutput"]) {
    this.#streams = streams;
    this.#onOutput = onOutput;
    this.#open = streams.length;
    for (const each of streams) {
      const { stream } = each;
      stream.on("data", (chunk: Buffer) => this.#take(each, chunk));
      // an unhandled error event would end the daemon; "close" follows
      stream.on("error", () => {});
      stream.once("close", () => {
        this.#open--;
        this.#onChange();
      });
    }
  }

  /**
   * Call after the exit. Resolves when the pipes are closed, have been silent for `quietMs`, or have been read for
   * `drainMs`. A stream that is held is waited for; once the output was abandoned, the `drainMs` bound applies to it
   * too.
   */
  quiet(): Promise<void> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let check: NodeJS.Immediate | undefined;
      let leftMs = drainMs;
      let countedFromMs: number | undefined;
      const done = () => {
        this.#onChange = () => {};
        resolve();
      };
      this.#onChange = () => {
        clearTimeout(timer);
        clearImmediate(check);
        const nowMs = performance.now();
        if (countedFromMs !== undefined) leftMs = Math.max(0, leftMs - (nowMs - countedFromMs));
        const isHeld = this.#held.size > 0;
        countedFromMs = isHeld && !this.#isAbandoned ? undefined : nowMs;
        if ((this.#open === 0 && !isHeld) || leftMs === 0) return done();
        if (countedFromMs === undefined) return;
        // where the event loop stood still, time has passed, but what came meanwhile is read only after the timers
        const silent = () => {
          check = setImmediate(done);
        };
        timer = setTimeout(silent, isHeld ? leftMs : Math.min(quietMs, leftMs));
      };
      this.#onChange();
    });
  }

  /** The child is being ended: a held stream no longer delays that beyond the usual bounds. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#onChange();
  }

  /** No output is delivered after this call. */
  end(): void {
    this.#isOver = true;
    for (const { stream } of this.#streams) stream.destroy();
  }

  #take({ name, stream, isAhead }: OutputStream, chunk: Buffer): void {
    if (this.#isOver) return;
    const taken = this.#onOutput(name, chunk);
    const rest = isAhead?.(chunk.length) === true ? aMoment() : undefined;
    if (taken instanceof Promise) this.#hold(stream, Promise.all([taken, rest]));
    else if (rest !== undefined) this.#hold(stream, rest);
    this.#onChange();
  }

  #hold(stream: Readable, taken: Promise<unknown>): void {
    stream.pause();
    this.#held.add(stream);
    const release = () => {
      this.#held.delete(stream);
      if (this.#isOver) return;
      stream.resume();
      this.#onChange();
    };
    taken.then(release, release);
  }
}

function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, momentMs));
}
