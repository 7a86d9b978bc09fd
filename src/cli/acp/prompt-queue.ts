/**
 * The prompts of one session that are not answered yet. What becomes of one is known from two sides that come in any
 * order: the answer to `session.say`, with its number, and the events of the session, which name that number.
 */
import type { WireError } from "../../abi/errors.ts";
import type { StopReason } from "../../abi/llm.ts";
import type { Picture } from "../../abi/media/pictures.ts";
import type { CompleteEvent, IdleEvent } from "../../abi/wire-events.ts";

/** What a run told before its end. */
export interface Told {
  /** Why the model ended its last reply. */
  readonly stopReason: StopReason | undefined;
  readonly error: WireError | undefined;
}

interface RunEnd {
  readonly event: IdleEvent | CompleteEvent;
  readonly told: Told;
}

export type PromptEnd =
  | { readonly kind: "cancelled" }
  | ({ readonly kind: "run" } & RunEnd)
  /** It ended while nobody followed the session. */
  | { readonly kind: "unseen" };

export class Prompt {
  readonly ended: Promise<PromptEnd>;
  /** undefined: it has not been said. */
  seq: number | undefined;
  /** Its run is in progress. */
  isRead = false;
  isCancelled = false;
  readonly text: string;
  readonly media: readonly Picture[];
  readonly #end: (end: PromptEnd) => void;

  constructor(text: string, media: readonly Picture[]) {
    this.text = text;
    this.media = media;
    const { promise, resolve } = Promise.withResolvers<PromptEnd>();
    this.ended = promise;
    this.#end = resolve;
  }

  end(end: PromptEnd): void {
    this.#end(this.isCancelled ? { kind: "cancelled" } : end);
  }
}

type Early = "read" | PromptEnd;

export class PromptQueue {
  readonly #open = new Set<Prompt>();
  readonly #bySeq = new Map<number, Prompt>();
  /** What the events told of numbers whose prompt is still being said: no more than there are such prompts. */
  readonly #early = new Map<number, Early>();

  add(text: string, media: readonly Picture[] = []): Prompt {
    const prompt = new Prompt(text, media);
    this.#open.add(prompt);
    return prompt;
  }

  /** It is not answered yet. */
  has(prompt: Prompt): boolean {
    return this.#open.has(prompt);
  }

  get open(): readonly Prompt[] {
    return [...this.#open];
  }

  /** `session.say` was answered. */
  said(prompt: Prompt, seq: number): void {
    prompt.seq = seq;
    const early = this.#early.get(seq);
    this.#early.delete(seq);
    if (early !== undefined && early !== "read") {
      this.end(prompt, early);
      return;
    }
    prompt.isRead = early === "read";
    this.#bySeq.set(seq, prompt);
  }

  /** The session has read it. */
  read(seq: number): void {
    const prompt = this.#bySeq.get(seq);
    if (prompt === undefined) this.#early.set(seq, "read");
    else prompt.isRead = true;
  }

  withdrawn(seq: number): void {
    this.#settle(seq, { kind: "cancelled" });
  }

  /** A run has ended: it answers every prompt that it has read, also the one that began it while nobody followed it. */
  over(run: RunEnd): void {
    const first = run.event.event === "idle" ? run.event.seq : undefined;
    const end: PromptEnd = { kind: "run", ...run };
    for (const [seq, told] of this.#early) if (told === "read") this.#early.set(seq, end);
    for (const [seq, prompt] of this.#bySeq) if (prompt.isRead || seq === first) this.end(prompt, end);
  }

  /** The process has ended: nothing that was said gets another answer. */
  abandon(run: RunEnd): void {
    this.over(run);
    for (const [, prompt] of this.#bySeq) this.end(prompt, { kind: "run", ...run });
  }

  /** Takes it out, and answers it. */
  end(prompt: Prompt, end: PromptEnd): void {
    this.#open.delete(prompt);
    if (prompt.seq !== undefined) this.#bySeq.delete(prompt.seq);
    prompt.end(end);
  }

  #settle(seq: number, end: PromptEnd): void {
    const prompt = this.#bySeq.get(seq);
    if (prompt === undefined) this.#early.set(seq, end);
    else this.end(prompt, end);
  }
}
