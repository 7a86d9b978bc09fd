/**
 * The steps of a history. Pure: takes records in their order. A step is a reply of the model with the results of its
 * calls; it is complete, and a fork may begin there, when every call is answered and no reply is in progress.
 */
import type { ProcUuid } from "../../abi/ids.ts";
import type { StepView } from "../../kernel/ports/forks.ts";
import type { JournalRecord, RecordKind } from "../../kernel/ports/journal.ts";
import type { SnapshotBody } from "./snapshot.ts";

const WORDS_CHARS = 120;
const ASKED_CHARS = 1_000;

interface Step {
  number: number;
  proc: ProcUuid;
  /** The seq of its last record; null: the step is not complete. */
  seq: number | null;
  at: number;
  words: string;
  asked: readonly string[];
  files: Set<string>;
  commands: number;
}

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
}

/** Records that follow a step and still belong to it: they do not change the context of the model. */
const AFTERMATH: ReadonlySet<RecordKind> = new Set<RecordKind>([
  "process.checkpoint",
  "process.log",
  "process.failed_run",
  "sandbox.violation",
  "call.result",
  "call.read",
  "ctx.gauge",
  "acct.settle",
  "acct.limit",
  "mail.done",
]);

export class Steps {
  readonly #steps: Step[] = [];
  /** `#open`: calls without a result. `#unanswered`: calls of the last reply that have no answer in the context. */
  readonly #open = new Set<string>();
  readonly #unanswered = new Set<string>();
  /** The program has a reply that is not in the context yet. */
  #isReplying = false;
  #hasMessage = false;
  /** Work has begun (a call, a reply): step 0 is complete. */
  #hasBegun = false;
  /** The complete step that the next record may still belong to. */
  #last: Step | null = null;
  #files = new Set<string>();
  #commands = 0;
  /** Given since the last reply. */
  #asked: string[] = [];
  #messageAfter = 0;

  /** The complete steps, oldest first, beginning with step 0 if there was a first message. */
  get complete(): readonly StepView[] {
    return this.#steps.flatMap((step) => (step.seq === null ? [] : [viewOf(step, step.seq)]));
  }

  /** A fork may begin after the last record taken. */
  get isAtRest(): boolean {
    return this.#hasMessage && this.#isStill;
  }

  /** The number of the last step before the newest message of the user or another process; 0: before all steps. */
  get beforeLastMessage(): number {
    return this.#messageAfter;
  }

  take(record: JournalRecord): void {
    this.#fold(record);
    if (!this.#isStill) {
      this.#last = null;
      this.#hasBegun = true;
      return;
    }
    if (!this.#hasMessage) return;
    if (!this.#hasBegun) this.#zero(record);
    const step = this.#steps.at(-1);
    if (step === undefined || step.number === 0) return;
    if (step.seq === null) {
      step.proc = record.proc;
      step.seq = record.seq;
      this.#last = step;
      return;
    }
    if (this.#last === step && step.proc === record.proc && AFTERMATH.has(record.kind)) step.seq = record.seq;
    else this.#last = null;
  }

  get #isStill(): boolean {
    return this.#open.size === 0 && this.#unanswered.size === 0 && !this.#isReplying;
  }

  #zero({ proc, seq, at }: JournalRecord): void {
    const [step] = this.#steps;
    if (step !== undefined) Object.assign(step, { proc, seq });
    else this.#steps.push({ number: 0, proc, seq, at, words: "", asked: [], files: new Set(), commands: 0 });
  }

  #fold(record: JournalRecord): void {
    const body = (record.body ?? {}) as Record<string, unknown>;
    switch (record.kind) {
      case "process.spawned":
        if (typeof body.intent === "string" && body.intent.trim() !== "") this.#hasMessage = true;
        return;
      case "process.checkpoint":
        if ("state" in body) this.#isReplying = hasReply(body.state);
        return;
      case "call.intent":
        this.#open.add(String(record.call));
        if (runsCommand(body)) this.#commands++;
        return;
      case "call.result":
      case "call.unknown":
        this.#open.delete(String(record.call));
        return;
      case "snapshot":
        this.#files.add(String((body as unknown as SnapshotBody).path));
        return;
      case "ctx.record":
        if (body.cid === undefined && body.replaces === undefined) this.#message(record, body);
        return;
      default:
        return;
    }
  }

  #message(record: JournalRecord, body: Record<string, unknown>): void {
    if (body.role === "tool") this.#unanswered.delete(String(body.tool_call_id));
    if (body.role === "user") {
      this.#messageAfter = this.#hasMessage ? this.#number : 0;
      this.#hasMessage = true;
      this.#asked.push(cut(String(body.content ?? ""), ASKED_CHARS));
    }
    if (body.role !== "assistant") return;
    this.#hasBegun = true;
    const calls = blocksOf(body).filter(({ type }) => type === "tool_use");
    this.#unanswered.clear();
    for (const { id } of calls) this.#unanswered.add(String(id));
    this.#steps.push({
      number: this.#number + 1,
      proc: record.proc,
      seq: null,
      at: record.at,
      words: wordsOf(String(body.content ?? ""), calls),
      asked: this.#asked,
      files: this.#files,
      commands: this.#commands,
    });
    this.#files = new Set();
    this.#commands = 0;
    this.#asked = [];
  }

  get #number(): number {
    return this.#steps.at(-1)?.number ?? 0;
  }
}

/** Reads only `kept` of the program's checkpoint state: null means that no reply is pending. */
function hasReply(state: unknown): boolean {
  return (
    ((state ?? {}) as { kept?: unknown }).kept !== null && (state as { kept?: unknown })?.kept !== undefined
  );
}

/** Takes the body of an intent. */
export function runsCommand({ effects }: Record<string, unknown>): boolean {
  return Array.isArray(effects) && effects.some((effect: { kind?: unknown }) => effect.kind === "exec");
}

function blocksOf({ blocks }: Record<string, unknown>): readonly Block[] {
  return Array.isArray(blocks) ? (blocks as readonly Block[]) : [];
}

function wordsOf(said: string, calls: readonly Block[]): string {
  const line = said.replaceAll(/\s+/g, " ").trim() || calls.map(({ name }) => String(name)).join(", ");
  return cut(line, WORDS_CHARS);
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`;
}

function viewOf({ number, files, ...step }: Step, seq: number): StepView {
  return { ...step, step: number, seq, files: [...files] };
}
