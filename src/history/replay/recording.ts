/**
 * Reads the records of the runs of a program, one run after another, for the player. It reads a little ahead, because
 * the program asks for inputs before the beats recorded ahead of them are played.
 */
import { Fault } from "../../abi/errors.ts";
import type { JournalRecord, RecordKind } from "../../kernel/ports/journal.ts";
import type { RecordedExit, Start, TapeEntry } from "../../kernel/ports/tape.ts";
import { Memory } from "./memory.ts";

interface Answer {
  readonly s: string;
  readonly a: string;
  readonly r?: unknown;
  readonly e?: unknown;
}

interface Input {
  readonly s: string;
  readonly n: number;
  readonly r: unknown;
}

export interface ExitBody {
  readonly code: number;
  readonly reason: string;
  readonly kind: string;
  readonly result: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** One event of a run of the program. */
export type Beat =
  /** A record of the program's own. `isReply`: a reply of the model. */
  | {
      readonly is: "own";
      readonly seq: number;
      readonly kind: string;
      readonly text: string;
      readonly isReply: boolean;
    }
  | { readonly is: "answer"; readonly seq: number; readonly passage: Answer }
  | { readonly is: "input"; readonly seq: number; readonly passage: Input; wasTaken: boolean }
  | { readonly is: "abort"; readonly seq: number; readonly n: number; readonly verdict: RecordedExit | null }
  | { readonly is: "exit"; readonly seq: number; readonly body: ExitBody };

interface Begin {
  readonly is: "start";
  readonly seq: number;
  readonly start: Start;
}

/** The most beats, and characters in them, that are read ahead; `FEW` beats are read whatever their size. */
const AHEAD = 512;
const AHEAD_CHARS = 16 * 1024 * 1024;
const FEW = 4;
/**
 * The most characters of a process's context and state held during a replay; no context of a model is nearly as long.
 */
const REMEMBERED_CHARS = 128 * 1024 * 1024;
const COMPARED: ReadonlySet<RecordKind> = new Set([
  "ctx.record",
  "ctx.move",
  "ctx.pin",
  "process.checkpoint",
]);

export function isCompared(kind: RecordKind): boolean {
  return COMPARED.has(kind);
}

export class Recording {
  readonly memory = new Memory();
  readonly #events: AsyncIterator<Beat | Begin>;
  readonly #ahead: Beat[] = [];
  #aheadChars = 0;
  #rememberedChars = 0;
  #sinceChars = 0;
  readonly #inputs = new Map<string, Extract<Beat, { is: "input" }>>();
  #next: Begin | null = null;
  #isAtEnd = false;
  /** The seq of the record that was read last. */
  lastSeq = 0;
  /** Whether a record is of the replayed process. Those of its origins are folded into `memory`, but not played. */
  readonly #isOwn: (record: JournalRecord) => boolean;

  constructor(records: AsyncIterable<JournalRecord>, isOwn: (record: JournalRecord) => boolean) {
    this.#isOwn = isOwn;
    this.#events = this.#eventsOf(records)[Symbol.asyncIterator]();
  }

  /**
   * The next run of the program; undefined: no more runs. Throws Incomplete at a reply that belongs to no recorded run.
   */
  async nextRun(): Promise<Begin | undefined> {
    for (let beat = await this.nextBeat(); beat !== undefined; beat = await this.nextBeat())
      if (beat.is === "own" && beat.isReply) throw new Incomplete(NOT_KEPT);
    const begin = this.#next;
    this.#next = null;
    return begin ?? undefined;
  }

  /** undefined: the records of this run end here. */
  async nextBeat(): Promise<Beat | undefined> {
    await this.readAhead();
    const beat = this.#ahead.shift();
    if (beat !== undefined) this.#aheadChars -= charsOf(beat);
    if (beat?.is === "input") this.#inputs.delete(keyOf(beat.passage.s, beat.passage.n));
    return beat;
  }

  /** Reads ahead, up to the start of another run. */
  async readAhead(): Promise<void> {
    while (this.#hasRoom && this.#next === null && !this.#isAtEnd) {
      const { value, done } = await this.#events.next();
      if (done === true) this.#isAtEnd = true;
      else if (value.is === "start") this.#next = value;
      else {
        this.#ahead.push(value);
        this.#aheadChars += charsOf(value);
      }
      if (done !== true && value.is === "input")
        this.#inputs.set(keyOf(value.passage.s, value.passage.n), value);
    }
  }

  get #hasRoom(): boolean {
    const { length } = this.#ahead;
    return length < FEW || (length < AHEAD && this.#aheadChars < AHEAD_CHARS);
  }

  /** The value of an input from the n-th time on; undefined: unchanged. */
  takeInput(name: string, n: number): Input | undefined {
    const beat = this.#inputs.get(keyOf(name, n));
    if (beat === undefined) return undefined;
    beat.wasTaken = true;
    return beat.passage;
  }

  async close(): Promise<void> {
    await this.#events.return?.();
  }

  #remember(record: JournalRecord): void {
    const { kind, body } = record;
    if (kind === "ctx.record" || kind === "ctx.move") this.#rememberedChars += textChars(body);
    if (kind === "process.checkpoint")
      this.#sinceChars = "part" in (body as object) ? this.#sinceChars + textChars(body) : 0;
    if (kind === "call.intent") this.#sinceChars += textChars(body);
    if (this.#rememberedChars + this.#sinceChars > REMEMBERED_CHARS)
      throw incomplete("it remembers more than can be replayed at once");
    this.memory.take(record);
  }

  async *#eventsOf(records: AsyncIterable<JournalRecord>): AsyncGenerator<Beat | Begin> {
    for await (const record of records) {
      checkWhole(record);
      this.#remember(record);
      if (!this.#isOwn(record)) continue;
      this.lastSeq = record.seq;
      yield* beatsOf(record);
    }
  }
}

function charsOf(beat: Beat): number {
  if (beat.is === "own") return beat.text.length;
  return beat.is === "answer" || beat.is === "input" ? textChars(beat.passage.r) : 0;
}

function* beatsOf({ seq, kind, body }: JournalRecord): Generator<Beat | Begin> {
  if (kind === "call.read") yield* passagesOf(seq, body);
  else if (kind === "process.exited") yield { is: "exit", seq, body: body as ExitBody };
  else if (isCompared(kind)) {
    const { role, cid, given } = body as { role?: unknown; cid?: unknown; given?: unknown };
    // the user gave it to the next life of the process
    if (given === true) return;
    yield {
      is: "own",
      seq,
      kind,
      text: JSON.stringify(body),
      isReply: role === "assistant" && cid === undefined,
    };
  }
}

function* passagesOf(seq: number, body: unknown): Generator<Beat | Begin> {
  for (const passage of (body as { did: readonly TapeEntry[] }).did) {
    if (passage.s === "start" && "r" in passage) yield { is: "start", seq, start: passage.r as Start };
    else if (passage.s === "abort" && "n" in passage)
      yield { is: "abort", seq, n: passage.n, verdict: passage.r as RecordedExit | null };
    else if ("n" in passage) yield { is: "input", seq, passage, wasTaken: false };
    else if ("a" in passage) yield { is: "answer", seq, passage };
  }
}

function checkWhole({ seq, kind, v, body }: JournalRecord): void {
  if (!isCompared(kind) && kind !== "call.read" && kind !== "process.spawned") return;
  const known = body as Record<string, unknown> | null;
  if (typeof known !== "object" || known === null) throw incomplete(`record ${seq} (${kind}) has no body`);
  if ("omitted" in known) throw incomplete(`record ${seq} (${kind}) was not kept: ${String(known.omitted)}`);
  if (v !== 1) throw incomplete(`record ${seq} (${kind}) has version ${v}, which is not known here`);
  if (kind === "call.read" && !Array.isArray(known.did))
    throw incomplete(`record ${seq} (${kind}) is of a form that is not known here`);
}

const NOT_KEPT = "it ran under a version of crux that did not keep what its calls gave";

/** The records are not enough for a replay. */
export class Incomplete extends Fault {
  constructor(message: string) {
    super({ code: "UNAVAILABLE", message });
  }
}

function incomplete(message: string): Incomplete {
  return new Incomplete(message);
}

function keyOf(name: string, n: number): string {
  return `${n} ${name}`;
}

/** The number of characters of all texts in plain data: roughly its size in memory. */
function textChars(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let chars = 0;
  for (const each of Array.isArray(value) ? value : Object.values(value)) chars += textChars(each);
  return chars;
}
