/**
 * Reads what a program prints from a position on, until what is waited for has come. In bounded memory: of a long output
 * the first and the last part are kept.
 */
import type { NativeWait, NativeWoken } from "../../abi/native/native-record.ts";
import type { Clock } from "../../abi/program.ts";
import type { PositionedReader } from "../../kernel/ports/spools.ts";
import { ABORTED, linkSignals } from "../../lib/abort.ts";
import { findMatching } from "../../lib/text/find-matching.ts";
import { PrintedText } from "../../lib/text/printed-text.ts";
import { driverError } from "../driver-error.ts";
import { Pages } from "../pages.ts";

const PART_BYTES = 64 * 1024;
const READ_BYTES = 64 * 1024;
/** More is left for the next answer: no program keeps the daemon busy for as long as a caller likes to wait. */
const MAX_BYTES = 4 * 1024 * 1024;
/** A match is not longer than this. */
const MATCH_BYTES = 4 * 1024;
const MATCH_MS = 250;

export interface Looked {
  readonly output: string;
  /** The position after what was read. */
  readonly next: number;
  /** Bytes from the first position on that were dropped before they were read. */
  readonly dropped: number;
  readonly wokenBy: NativeWoken;
}

interface FollowWish {
  readonly from: number;
  /** Where a match may begin. */
  readonly matchFrom: number;
  readonly wait: NativeWait;
}

export interface Waiting {
  readonly clock: Pick<Clock, "sleep">;
  readonly signal: AbortSignal;
}

/** INVALID: the pattern is not one, or takes too long. Rejects with the reason of the signal. */
export async function follow(
  reader: PositionedReader,
  { from, matchFrom, wait }: FollowWish,
  { clock, signal }: Waiting,
): Promise<Looked> {
  const pattern = wait.until === undefined ? null : new OutputPattern(wait.until);
  const printed = new PrintedText();
  const pages = new Pages(PART_BYTES);
  const add = (text: Uint8Array): void => pages.add(Buffer.from(text));
  const timer = new Timer(wait, clock);
  let taken = 0;
  let expected = from;
  let dropped = 0;
  const over = (wokenBy: NativeWoken): Looked => {
    add(printed.end());
    return { output: pages.text(), next: reader.position, dropped, wokenBy };
  };
  try {
    for (;;) {
      const data =
        reader.available > 0
          ? await reader.read(READ_BYTES, signal)
          : await timer.awaited(taken > 0, (stop) => reader.read(READ_BYTES, stop), signal);
      if (typeof data === "string") return over(data);
      if (data.byteLength === 0) return over("end");
      const start = reader.position - data.byteLength;
      dropped += start - expected;
      expected = reader.position;
      taken += data.byteLength;
      add(printed.push(data));
      if (pattern?.matches(data.subarray(Math.max(0, matchFrom - start))) === true) return over("match");
      if (timer.isOver) return over("timeout");
      if (taken >= MAX_BYTES) return over("limit");
    }
  } finally {
    timer.stop();
    reader.close();
  }
}

/** The two ends of a wait that are not the program's. */
class Timer {
  readonly #clock: Pick<Clock, "sleep">;
  readonly #quietMs: number;
  readonly #late = new AbortController();
  readonly #stop = new AbortController();

  constructor({ timeout_ms: timeoutMs, quiet_ms: quietMs = 0 }: NativeWait, clock: Pick<Clock, "sleep">) {
    this.#clock = clock;
    this.#quietMs = quietMs;
    this.#after(timeoutMs, this.#stop.signal, this.#late);
  }

  get isOver(): boolean {
    return this.#late.signal.aborted;
  }

  stop(): void {
    this.#stop.abort(ABORTED);
  }

  /** What `read` gives; or why it was given up. */
  async awaited(
    isBegun: boolean,
    read: (stop: AbortSignal) => Promise<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Uint8Array | NativeWoken> {
    const quiet = new AbortController();
    using linked = linkSignals(signal, this.#late.signal, quiet.signal);
    if (isBegun && this.#quietMs > 0) this.#after(this.#quietMs, linked.signal, quiet);
    try {
      return await read(linked.signal);
    } catch (error) {
      if (signal.aborted) throw error;
      if (this.isOver) return "timeout";
      if (quiet.signal.aborted) return "quiet";
      throw error;
    } finally {
      linked.abort();
    }
  }

  #after(ms: number, over: AbortSignal, fires: AbortController): void {
    this.#clock.sleep(ms, over).then(
      () => fires.abort(ABORTED),
      () => {},
    );
  }
}

/** Looks for a pattern in an output that comes in pieces, as a terminal would show it. */
export class OutputPattern {
  readonly #regex: RegExp;
  #tail = Buffer.alloc(0);

  /** INVALID. */
  constructor(source: string) {
    try {
      this.#regex = new RegExp(source, "m");
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw driverError("Write", "INVALID", `not a regular expression: ${message}`, cause);
    }
  }

  /** Whether the output with this piece has a match that ends in it or not long before. INVALID: it takes too long. */
  matches(data: Uint8Array): boolean {
    if (data.byteLength === 0) return false;
    const window = Buffer.concat([this.#tail, data]);
    this.#tail = Buffer.from(window.subarray(-MATCH_BYTES));
    const printed = new PrintedText();
    const text = [Buffer.from(printed.push(window)), Buffer.from(printed.end())].join("");
    const find = () => findMatching(this.#regex, [text], MATCH_MS);
    // once more: what was slow may have been the machine
    const found = find() ?? find();
    if (found === null)
      throw driverError("Write", "INVALID", "the pattern takes too long on this output: simplify it");
    return found.length > 0;
  }

  /** The next match begins after what was seen. */
  restart(): void {
    this.#tail = Buffer.alloc(0);
  }
}
