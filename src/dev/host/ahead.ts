/**
 * Sandboxes made before their commands. When a command of a process has ended, the next one of the same rights is likely: its
 * sandbox is set up while the model thinks, as far as the first process, which waits for the words.
 *
 * Each serves one command and no second. A first process that took one command after another would be there for all of them to
 * signal, to limit and to starve, and what one had left the next would find; so it is the waiting that is saved, not the walls.
 * One that does not fit what is asked, or of which a part was replaced meanwhile, is ended, and another made as ever.
 */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../abi/program.ts";
import type { ExecSpec } from "../../kernel/ports/host.ts";
import type { PreparedChild } from "./prepared-child.ts";
import type { Confine } from "./sandbox/sandbox.ts";

/** For what comes first when a command has ended: its result, and the request to the model. */
const delayMs = 5;
/** Unused, it is ended: its process may do something else for long. */
const idleMs = 10_000;
/** Of all processes, and of one; the oldest are ended first. */
const maxSpares = 16;
const maxOfProcess = 2;
/** The first process reads one character at a time. */
const maxChars = 8_192;

interface Spare {
  readonly spec: ExecSpec;
  readonly program: string;
  readonly prepared: PreparedChild;
  /** It is no longer kept: taken, or to be ended. */
  readonly over: AbortController;
}

interface Maker {
  prepare(spec: ExecSpec, program: string): PreparedChild;
  /** How it is to be confined; undefined: not at all. */
  wantedOf(spec: ExecSpec, program: string): Confine | undefined;
}

export class Ahead {
  readonly #maker: Maker;
  readonly #clock: Pick<Clock, "sleep">;
  /** The oldest first. */
  readonly #spares = new Set<Spare>();
  readonly #ending = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(maker: Maker, clock: Pick<Clock, "sleep">) {
    this.#maker = maker;
    this.#clock = clock;
  }

  get size(): number {
    return this.#spares.size;
  }

  /** undefined: none fits. Its program has not begun. */
  take(spec: ExecSpec, program: string): PreparedChild | undefined {
    const found = [...this.#spares].find((spare) => isOfKind(spare, spec, program));
    if (found === undefined || !isShort(spec.argv)) return undefined;
    const wanted = this.#maker.wantedOf(spec, program);
    if (wanted === undefined || found.prepared.confinement?.holds(wanted) !== true) {
      this.#end(found);
      return undefined;
    }
    this.#spares.delete(found);
    found.over.abort();
    return found.prepared;
  }

  /** Makes one for what may follow, in a moment. Never rejects. */
  async follow(spec: ExecSpec, program: string): Promise<void> {
    const until = spec.process?.until;
    if (until === undefined || spec.sandbox?.network !== "off") return;
    await this.#clock.sleep(delayMs, until).catch(() => {});
    if (until.aborted || this.#isClosed) return;
    if ([...this.#spares].some((spare) => isOfKind(spare, spec, program))) return;
    try {
      // the words come later; those of the last command are nobody's
      const bare = { ...spec, argv: [program] };
      this.#keep(
        { spec, program, prepared: this.#maker.prepare(bare, program), over: new AbortController() },
        until,
      );
    } catch {
      // the next command says what is wrong
    }
  }

  /** Resolves when none is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const spare of this.#spares) this.#end(spare);
    await Promise.all(this.#ending);
  }

  #keep(spare: Spare, until: AbortSignal): void {
    const ofProcess = [...this.#spares].filter(({ spec }) => spec.process?.id === spare.spec.process?.id);
    for (const old of ofProcess.slice(0, Math.max(0, ofProcess.length + 1 - maxOfProcess))) this.#end(old);
    for (const old of [...this.#spares].slice(0, Math.max(0, this.#spares.size + 1 - maxSpares)))
      this.#end(old);
    this.#spares.add(spare);
    const end = () => this.#end(spare);
    until.addEventListener("abort", end, { once: true, signal: spare.over.signal });
    void spare.prepared.launched.ended.then(end);
    this.#clock.sleep(idleMs, spare.over.signal).then(end, () => {});
  }

  #end(spare: Spare): void {
    if (!this.#spares.delete(spare)) return;
    spare.over.abort();
    spare.prepared.drop();
    const ending = spare.prepared.launched.ended.finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** All but the words is the same. */
function isOfKind(spare: Spare, spec: ExecSpec, program: string): boolean {
  return spare.program === program && isDeepStrictEqual(kindOf(spare.spec), kindOf(spec));
}

function kindOf({ process, cwd, env, stdin, isMerged, sandbox }: ExecSpec) {
  return { id: process?.id, cwd, env, stdin, isMerged, sandbox };
}

function isShort(argv: readonly string[]): boolean {
  return (
    argv.reduce((sum, word) => sum + word.length, 0) <= maxChars && !argv.some((word) => word.includes("\0"))
  );
}
