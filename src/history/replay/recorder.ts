/**
 * Records what a program receives from outside, for replay, as notes in the history of its process; no call waits for
 * them. Tape entries are collected and written before the next record of the program, to keep the order. A daemon
 * that dies loses only the newest entries, and nothing of the program was recorded after them.
 */
import type { ContextSpaces } from "../../kernel/context/spaces.ts";
import { classOf } from "../../kernel/gate/slot.ts";
import type { RecordKind } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { RecordedExit, Start, Tape, TapeEntry } from "../../kernel/ports/tape.ts";
import { modelStartOf, timesChosen } from "../../kernel/process/chosen-model.ts";
import type { Process } from "../../kernel/process/process.ts";
import { toldOf } from "../../kernel/process/process-seed.ts";
import { STDIN } from "../../kernel/process/spawn/stdio.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import type { Mounts } from "../../kernel/vfs/mounts.ts";
import { packAnswer, packError } from "./answer.ts";
import { digestOf } from "./digest.ts";

/** The most entries, and characters, that are collected before they are written. */
const MAX_HELD = 64;
const MAX_HELD_CHARS = 8_192;

/** What recording needs of the kernel. */
interface Taping {
  readonly ports: Pick<KernelPorts, "redactor" | "version" | "models" | "slices">;
  readonly table: Pick<ProcessTable, "get">;
  readonly contexts: Pick<ContextSpaces, "prompt">;
  readonly mounts: Pick<Mounts, "namedBy">;
  note(proc: Process, kind: RecordKind, body: unknown): void;
}

/** Runs the program of a process, and records what it receives from outside. */
export async function recorded<T>(core: Taping, proc: Process, run: () => Promise<T>): Promise<T> {
  const recorder = new Recorder(core, proc);
  proc.runOn(recorder);
  try {
    return await run();
  } finally {
    recorder.end();
    proc.runOn(null);
  }
}

class Recorder implements Tape {
  readonly #core: Taping;
  readonly #proc: Process;
  /** How often each input was asked for, and its last value as JSON. */
  readonly #inputs = new Map<string, { asked: number; value: string | undefined }>();
  #held: TapeEntry[] = [];
  #heldChars = 0;
  #signals = 0;
  /** Calls that are not answered yet. */
  #waiting = 0;
  /** Until the program has acted on the last of several answers; null: no such answer is due. */
  #turn: Promise<void> | null = null;
  #isOver = false;

  constructor(core: Taping, proc: Process) {
    this.#core = core;
    this.#proc = proc;
    this.#keep({ s: "start", r: startOf(core, proc) }, 0);
  }

  async answer<R>(name: string, args: unknown, act: () => Promise<R>): Promise<R> {
    // before the call: the caller may change the bytes during it
    const a = digestOf(args, this.#core.ports.redactor);
    this.#waiting++;
    let given: R;
    try {
      given = await act();
    } catch (error) {
      await this.#inTurn();
      this.#answered({ s: name, a, e: packError(error) }, 0);
      throw error;
    }
    await this.#inTurn();
    this.#answered({ s: name, a, ...(given === undefined ? {} : { r: packAnswer(given) }) }, sizeOf(given));
    return given;
  }

  /**
   * A replay gives each answer once the program can do no more without it. So where the program waits for several, they
   * are given to it one at a time here, too, however close together they came: it acts on each before it gets the next.
   */
  async #inTurn(): Promise<void> {
    const { slices } = this.#core.ports;
    const later = (this.#isFirst ? slices?.first : slices?.others)?.next();
    if (later !== undefined) await later;
    const isAlone = this.#waiting === 1 && this.#turn === null;
    if (!isAlone) {
      const before = this.#turn ?? Promise.resolve();
      const turn = before.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
      this.#turn = turn;
      void turn.then(() => {
        if (this.#turn === turn) this.#turn = null;
      });
      await before;
    }
    this.#waiting--;
  }

  /** A person waits for what it does, or for its first words. */
  get #isFirst(): boolean {
    return this.#proc.used.tokens === 0 || classOf(this.#core, this.#proc) === "interactive";
  }

  input<T>(name: string, read: () => T): T {
    const value = read();
    const known = this.#inputs.get(name) ?? { asked: 0, value: undefined };
    known.asked++;
    this.#inputs.set(name, known);
    const text = JSON.stringify(value);
    if (text !== known.value && this.#isHeard) this.#keep({ s: name, n: known.asked, r: value }, text.length);
    known.value = text;
    return value;
  }

  signal(real: AbortSignal): AbortSignal {
    const n = ++this.#signals;
    if (real.aborted) this.#aborted(n);
    else real.addEventListener("abort", () => this.#aborted(n), { once: true });
    return real;
  }

  flush(): void {
    if (this.#held.length === 0) return;
    const did = this.#held;
    this.#held = [];
    this.#heldChars = 0;
    this.#core.note(this.#proc, "call.read", { did });
  }

  /** The program has ended. */
  end(): void {
    this.flush();
    this.#isOver = true;
  }

  /** Written at once, like all answers after it: the process may be ended by force. */
  #aborted(n: number): void {
    if (!this.#isHeard) return;
    this.#keep({ s: "abort", n, r: verdictOf(this.#proc) }, 0);
    this.flush();
  }

  /** False after the end: every call is refused then, and the history is closed. */
  get #isHeard(): boolean {
    return !this.#isOver && !this.#proc.life.isClosed;
  }

  #answered(passage: TapeEntry, chars: number): void {
    if (!this.#isHeard) return;
    this.#keep(passage, chars);
    if (this.#proc.abort.signal.aborted) this.flush();
  }

  #keep(passage: TapeEntry, chars: number): void {
    this.#held.push(passage);
    this.#heldChars += chars;
    if (this.#held.length >= MAX_HELD || this.#heldChars >= MAX_HELD_CHARS) this.flush();
  }
}

function verdictOf({ ending: { verdict } }: Process): RecordedExit | null {
  return verdict === null ? null : { code: verdict.code, reason: verdict.reason, kind: verdict.kind };
}

/** The size of a value that may be large; 0 for others. */
function sizeOf(given: unknown): number {
  return given instanceof Uint8Array ? given.byteLength : 0;
}

function startOf(core: Taping, proc: Process): Start {
  const { pid, seed, fds, ctxId, past, conversation } = proc;
  const { systemPrompt } = core.contexts.prompt(ctxId);
  const manifest = seed.agent?.manifest;
  const { tools = null, disallowedTools, memory, initialPrompt, pins } = manifest ?? {};
  return {
    v: 1,
    crux: core.ports.version ?? "",
    restored: past.restored !== null,
    input: fds.has(STDIN),
    mounts: core.mounts.namedBy(pid),
    toolset: 2,
    ...toldOf(seed),
    viewRequests: true,
    early: true,
    ownAgents: true,
    ...modelStartOf(core, proc),
    chosen: timesChosen(proc),
    maxSteps: seed.maxSteps,
    ...(conversation === null ? {} : { client: seed.client ?? "" }),
    agent:
      manifest === undefined
        ? null
        : {
            tools,
            ...(disallowedTools === undefined ? {} : { disallowedTools }),
            ...(memory === undefined ? {} : { memory }),
            ...(initialPrompt === undefined ? {} : { initialPrompt }),
            ...(pins === undefined ? {} : { pins }),
          },
    ...(past.isRestorable || past.origin !== null || systemPrompt === "" ? {} : { systemPrompt }),
  };
}
