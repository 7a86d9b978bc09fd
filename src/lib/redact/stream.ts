/**
 * Redacts a text that comes in chunks as if it came whole: its last 4 KiB are held back until more arrives, and a
 * secret that reaches the end of the text so far is held back until its end is seen.
 */

import { MAX_NEEDLE_CHARS, MIN_KNOWN_CHARS } from "./known.ts";
import { DROPPED, type Redactor } from "./redact.ts";

const CARRY_CHARS = 4_096;
/** A secret that ends this far before the end is complete: any known value that begins inside it is already visible. */
const MARGIN_CHARS = MAX_NEEDLE_CHARS + 128;
/** How many characters patterns look back. */
const CONTEXT_CHARS = 8;

type Looking = Pick<Redactor, "scan" | "mayGoOn">;

export class RedactStream {
  readonly #redactor: Looking;
  /** The end of the text already returned, for patterns that look back. */
  #context = "";
  #held = "";

  constructor(redactor: Looking) {
    this.#redactor = redactor;
  }

  /** `isLive`: a reader waits for the end of each line, not for 4 KiB. */
  push(chunk: string, isLive = false): string {
    this.#held += chunk;
    const sure = this.#held.length - CARRY_CHARS;
    const live = isLive ? liveLimit(this.#held, this.#redactor) : 0;
    return live > sure ? this.#give(live, true) : this.#give(sure, false);
  }

  /** Nothing is held back. */
  get isEmpty(): boolean {
    return this.#held === "";
  }

  /** The text that is held back. */
  get held(): string {
    return this.#held;
  }

  /** The text that is held back, and what was returned before it: whoever takes them goes on without this. */
  take(): { readonly context: string; readonly held: string } {
    const taken = { context: this.#context, held: this.#held };
    this.#held = "";
    return taken;
  }

  /** `context`: the end of the text so far. */
  resume(context: string): void {
    this.#context = context.slice(-CONTEXT_CHARS);
  }

  /** Returns the text that was held back. */
  end(): string {
    return this.#give(this.#held.length, true);
  }

  /** Returns the text before `limit`, and the rest of a secret that begins before it. */
  #give(limit: number, isOver: boolean): string {
    if (limit <= 0) return "";
    try {
      return this.#redacted(limit, isOver);
    } catch {
      this.#held = "";
      return DROPPED;
    }
  }

  /** `isOver`: no secret that begins before the limit continues in text still to come. */
  #redacted(limit: number, isOver: boolean): string {
    const before = this.#context.length;
    const text = this.#context + this.#held;
    const border = before + limit;
    const scan = this.#redactor.scan(text);
    const parts: string[] = [];
    let done = before;
    while (done < border) {
      const secret = scan.next(done);
      const isOpen = secret !== null && !isOver && secret.end > text.length - MARGIN_CHARS;
      const until = secret === null || secret.start >= border ? border : secret.start;
      parts.push(text.slice(done, until));
      done = until;
      if (secret === null || secret.start >= border || isOpen) break;
      parts.push(secret.mark);
      done = secret.end;
    }
    this.#context = text.slice(Math.max(0, done - CONTEXT_CHARS), done);
    this.#held = text.slice(done);
    return parts.join("");
  }
}

/**
 * The end of the last line, or of the text if its last word is too short for a secret and not the beginning of one. 0
 * within a multi-line key, which is awaited.
 */
function liveLimit(held: string, redactor: Pick<Redactor, "mayGoOn">): number {
  if (held.includes("-----BEGIN")) return 0;
  const last = /\S*$/.exec(held.slice(-MIN_KNOWN_CHARS))?.[0].length ?? 0;
  return last < MIN_KNOWN_CHARS && !redactor.mayGoOn(held) ? held.length : held.lastIndexOf("\n") + 1;
}
