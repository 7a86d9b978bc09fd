/**
 * Plays a tape to a program that runs again. Answers are given in the order in which they were recorded, one at a time, each
 * once the program has done all it could without it; what the program does meanwhile is compared with what it did then. The
 * first difference ends it.
 */
import type { JournalDraft } from "../../kernel/ports/journal.ts";
import type { Difference } from "../../kernel/ports/replays.ts";
import type { RecordedExit, Tape } from "../../kernel/ports/tape.ts";
import type { Process } from "../../kernel/process/process.ts";
import { unpackAnswer, unpackError } from "./answer.ts";
import { differenceOf, shown } from "./difference.ts";
import { digestOf } from "./digest.ts";
import { type Beat, isCompared, type Reel } from "./reel.ts";

/** A call that waits for its answer. */
interface Asked {
  readonly name: string;
  readonly a: string;
  readonly args: unknown;
  readonly answer: PromiseWithResolvers<unknown>;
}

/** What the program did that was its own. */
interface Done {
  readonly kind: string;
  readonly text: string;
}

export class Player implements Tape {
  readonly #reel: Reel;
  readonly #proc: Process;
  readonly #asked: Asked[] = [];
  readonly #done: Done[] = [];
  readonly #inputs = new Map<string, { asked: number; value: unknown; isKnown: boolean }>();
  readonly #signals: AbortController[] = [];
  #unknownInput: string | null = null;
  #isOver = false;
  /** The program has come to its end. */
  hasEnded = false;
  /** It has asked for a thread. */
  hasThreads = false;

  constructor(reel: Reel, proc: Process) {
    this.#reel = reel;
    this.#proc = proc;
  }

  answer<R>(name: string, args: unknown): Promise<R> {
    const answer = Promise.withResolvers<unknown>();
    // nobody may wait for it when the replay ends first
    answer.promise.catch(() => {});
    this.hasThreads ||= name === "SpawnThread";
    this.#asked.push({ name, a: digestOf(args), args, answer });
    return answer.promise as Promise<R>;
  }

  /** What is recorded for the n-th time it is asked, else what it was before. */
  input<T>(name: string, read: () => T): T {
    const known = this.#inputs.get(name) ?? { asked: 0, value: undefined, isKnown: false };
    this.#inputs.set(name, known);
    known.asked++;
    const changed = this.#reel.takeInput(name, known.asked);
    if (changed !== undefined) Object.assign(known, { value: changed.r, isKnown: true });
    if (known.isKnown) return known.value as T;
    this.#unknownInput ??= name;
    return read();
  }

  signal(real: AbortSignal): AbortSignal {
    const controller = new AbortController();
    this.#signals.push(controller);
    if (real.aborted) controller.abort();
    return controller.signal;
  }

  flush(): void {}

  /** From the journal of the stage: what the program does that is recorded. */
  did(drafts: readonly JournalDraft[]): void {
    if (this.#isOver) return;
    for (const { kind, body } of drafts)
      if (isCompared(kind)) this.#done.push({ kind, text: JSON.stringify(body) });
  }

  /** Plays `beat`, when the program has come to rest. undefined: it fits. */
  play(beat: Exclude<Beat, { is: "exit" }>): Difference | undefined {
    // what it did and asked before comes first; where the record ends there, nobody knows the rest
    const isBefore = beat.is === "own" ? this.#done.length > 0 : beat.is === "input" && beat.wasTaken;
    const unknown = isBefore ? undefined : this.#unknown(beat.seq);
    if (unknown !== undefined) return unknown;
    switch (beat.is) {
      case "own":
        return this.#compare(beat);
      case "answer":
        return this.#release(beat);
      case "input":
        return this.#checkInput(beat);
      case "abort":
        return this.#abort(beat);
    }
  }

  /** What the program did that is not recorded, though it ended here. */
  beyond(seq: number): Difference | undefined {
    const unknown = this.#unknown(seq);
    if (unknown !== undefined) return unknown;
    const [done] = this.#done;
    if (done !== undefined)
      return { seq, what: "exit", expected: "the end", got: `${done.kind} ${shown(done.text)}` };
    if (!this.hasEnded) return { seq, what: "exit", expected: "the end", got: this.#stand() };
    return undefined;
  }

  /** One that was asked for before there is a value of it. Beyond what is recorded nobody knows. */
  #unknown(seq: number): Difference | undefined {
    if (this.#unknownInput === null) return undefined;
    const got = `it asks for ${this.#unknownInput}`;
    return { seq, what: "input", expected: `${this.#unknownInput} is not asked for`, got };
  }

  /** The program hears and is heard no more. */
  close(): void {
    this.#isOver = true;
    this.#asked.length = 0;
    this.#done.length = 0;
  }

  #compare({ seq, kind, text }: Extract<Beat, { is: "own" }>): Difference | undefined {
    const done = this.#done.shift();
    if (done === undefined) return { seq, what: kind, expected: shown(text), got: this.#stand() };
    if (done.kind === kind && done.text === text) return undefined;
    if (done.kind !== kind)
      return { seq, what: kind, expected: kind, got: `${done.kind} ${shown(done.text)}` };
    return { seq, what: kind, ...differenceOf(text, done.text) };
  }

  #release({ seq, passage }: Extract<Beat, { is: "answer" }>): Difference | undefined {
    const { s, a } = passage;
    const at = this.#asked.findIndex((asked) => asked.name === s && asked.a === a);
    if (at < 0) {
      const same = this.#asked.find(({ name }) => name === s);
      const got = same === undefined ? this.#stand() : waitsFor(same);
      return { seq, what: "call", expected: `${s} (arguments ${a})`, got };
    }
    const [asked] = this.#asked.splice(at, 1);
    if ("e" in passage) asked?.answer.reject(unpackError(passage.e));
    else asked?.answer.resolve(unpackAnswer(passage.r));
    return undefined;
  }

  /** It was read when the program asked; if it is still there, the program did not ask. */
  #checkInput({ seq, passage, wasTaken }: Extract<Beat, { is: "input" }>): Difference | undefined {
    if (wasTaken) return undefined;
    const asked = this.#inputs.get(passage.s)?.asked ?? 0;
    const expected = `${passage.s}, asked for the ${passage.n}. time`;
    return { seq, what: "input", expected, got: `asked ${asked} times, then ${this.#stand()}` };
  }

  #abort({ seq, n, verdict }: Extract<Beat, { is: "abort" }>): Difference | undefined {
    const controller = this.#signals[n - 1];
    if (controller === undefined)
      return { seq, what: "signal", expected: `signal ${n} is heard`, got: this.#stand() };
    if (verdict !== null) this.#proc.ending.decide(verdict as RecordedExit);
    controller.abort();
    return undefined;
  }

  /** Where the program is instead. */
  #stand(): string {
    const [done] = this.#done;
    if (done !== undefined) return `${done.kind} ${shown(done.text)}`;
    return this.hasEnded ? "the program has ended" : waitsFor(this.#asked[0]);
  }
}

function waitsFor(asked: Asked | undefined): string {
  return asked === undefined
    ? "it waits"
    : `${asked.name} ${shown(describe(asked.args))} (arguments ${asked.a})`;
}

function describe(args: unknown): string {
  const text = JSON.stringify(args, function (this: Record<string, unknown>, key, said: unknown) {
    const value = this[key];
    return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : said;
  });
  return text ?? "";
}
