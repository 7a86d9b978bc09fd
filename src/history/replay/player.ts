/**
 * Plays a tape to a program that runs again. Answers are given one at a time, in the recorded order, each once the
 * program can do no more without it. What the program does meanwhile is compared with the records. The first difference
 * ends the replay.
 */

import type { OwnSendOptions } from "../../abi/sys.ts";
import type { JournalDraft } from "../../kernel/ports/journal.ts";
import type { Difference } from "../../kernel/ports/replays.ts";
import type { RecordedExit, Tape } from "../../kernel/ports/tape.ts";
import type { Process } from "../../kernel/process/process.ts";
import { ABORTED } from "../../lib/abort.ts";
import { unpackAnswer, unpackError } from "./answer.ts";
import { differenceOf, shown } from "./difference.ts";
import { digestOf, isDigestOf } from "./digest.ts";
import { type Beat, isCompared, type Recording } from "./recording.ts";

/** A call that waits for its answer; `a` is the digest of its arguments. */
interface Asked {
  readonly name: string;
  readonly a: string;
  readonly args: unknown;
  readonly answer: PromiseWithResolvers<unknown>;
}

/** A record that the program caused now, to be compared. */
interface Done {
  readonly kind: string;
  readonly text: string;
}

export class Player implements Tape {
  readonly #recording: Recording;
  readonly #proc: Process;
  readonly #asked: Asked[] = [];
  readonly #done: Done[] = [];
  readonly #inputs = new Map<string, { asked: number; value: unknown; isKnown: boolean }>();
  readonly #signals: AbortController[] = [];
  #unknownInput: string | null = null;
  #isOver = false;
  /** The program has ended. */
  hasEnded = false;
  /** The program has asked for a thread. */
  hasThreads = false;

  constructor(recording: Recording, proc: Process) {
    this.#recording = recording;
    this.#proc = proc;
  }

  answer<R>(name: string, args: unknown): Promise<R> {
    const answer = Promise.withResolvers<unknown>();
    // avoids an unhandled rejection where nothing awaits it any more
    answer.promise.catch(() => {});
    this.hasThreads ||= name === "SpawnThread";
    this.#asked.push({ name, a: digestOf(args), args, answer });
    return answer.promise as Promise<R>;
  }

  /** The value recorded for the n-th time it is asked; otherwise its previous value. */
  input<T>(name: string, read: () => T): T {
    const known = this.#inputs.get(name) ?? { asked: 0, value: undefined, isKnown: false };
    this.#inputs.set(name, known);
    known.asked++;
    const changed = this.#recording.takeInput(name, known.asked);
    if (changed !== undefined) Object.assign(known, { value: changed.r, isKnown: true });
    if (known.isKnown) return known.value as T;
    this.#unknownInput ??= name;
    return read();
  }

  /** The program has asked for an input that is not recorded. */
  get isBeyond(): boolean {
    return this.#unknownInput !== null;
  }

  signal(real: AbortSignal): AbortSignal {
    const controller = new AbortController();
    this.#signals.push(controller);
    if (real.aborted) controller.abort(ABORTED);
    return controller.signal;
  }

  flush(): void {}

  /** Called by the stage's journal with the records that the program causes. */
  did(drafts: readonly JournalDraft[]): void {
    if (this.#isOver) return;
    for (const { kind, body } of drafts)
      if (isCompared(kind)) this.#done.push({ kind, text: JSON.stringify(body) });
  }

  /** Plays `beat` once the program is at rest. undefined: no difference. */
  play(beat: Exclude<Beat, { is: "exit" }>): Difference | undefined {
    // earlier records and inputs are compared first; an unrecorded input counts only after them
    const isBefore = beat.is === "own" ? this.#done.length > 0 : beat.is === "input" && beat.wasTaken;
    // one that ends here was ended in the middle of a turn, and here goes on until it waits: it may ask for one input more
    const isEnded = beat.is === "abort" && beat.verdict !== null;
    const unknown = isBefore || isEnded ? undefined : this.#unknown(beat.seq);
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

  /** The difference if the program did more than is recorded up to the exit at `seq`. */
  beyond(seq: number): Difference | undefined {
    const unknown = this.#unknown(seq);
    if (unknown !== undefined) return unknown;
    const [done] = this.#done;
    if (done !== undefined)
      return { seq, what: "exit", expected: "the end", got: `${done.kind} ${shown(done.text)}` };
    if (!this.hasEnded) return { seq, what: "exit", expected: "the end", got: this.#stand() };
    return undefined;
  }

  /** The difference if the program asked for an input without a recorded value. */
  #unknown(seq: number): Difference | undefined {
    if (this.#unknownInput === null) return undefined;
    const got = `it asks for ${this.#unknownInput}`;
    return { seq, what: "input", expected: `${this.#unknownInput} is not asked for`, got };
  }

  /** Ends the exchange: no call is answered and no record is compared after it. */
  close(): void {
    this.#isOver = true;
    this.#asked.length = 0;
    this.#done.length = 0;
  }

  #compare({ seq, kind, text }: Extract<Beat, { is: "own" }>): Difference | undefined {
    const done = this.#done.shift() ?? this.#doneBeside(kind);
    if (done === undefined) return { seq, what: kind, expected: shown(text), got: this.#stand() };
    if (done.kind === kind && done.text === text) return undefined;
    if (done.kind !== kind)
      return { seq, what: kind, expected: kind, got: `${done.kind} ${shown(done.text)}` };
    return { seq, what: kind, ...differenceOf(text, done.text) };
  }

  /** The position that a message which is not answered yet has with it: recorded unless the message was refused. */
  #doneBeside(kind: string): Done | undefined {
    const at = this.#asked.findIndex(({ name, args }) => name === "Send" && stateBeside(args) !== undefined);
    const asked = this.#asked[at];
    if (kind !== "process.checkpoint" || asked === undefined) return undefined;
    const state = stateBeside(asked.args);
    this.#asked[at] = { ...asked, args: { ...(asked.args as object), withCheckpoint: undefined } };
    return { kind, text: JSON.stringify({ state }) };
  }

  #release({ seq, passage }: Extract<Beat, { is: "answer" }>): Difference | undefined {
    const { s, a } = passage;
    const at = this.#asked.findIndex(
      (asked) => asked.name === s && isDigestOf(a, { own: asked.a, args: asked.args }),
    );
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

  /** The value is taken when the program asks; one not taken by now was not asked for. */
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
    if (verdict !== null) {
      this.#unknownInput = null;
      this.#proc.ending.decide(verdict as RecordedExit);
    }
    controller.abort(ABORTED);
    return undefined;
  }

  /** What the program did, or waits for, instead. */
  #stand(): string {
    const [done] = this.#done;
    if (done !== undefined) return `${done.kind} ${shown(done.text)}`;
    return this.hasEnded ? "the program has ended" : waitsFor(this.#asked[0]);
  }
}

function stateBeside(args: unknown): unknown {
  return (args as OwnSendOptions).withCheckpoint;
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
