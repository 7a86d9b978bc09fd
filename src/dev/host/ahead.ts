/**
 * Sandboxes made before their commands. After a command of a process another with the same rights is likely: its
 * sandbox is set up while the model thinks, up to the first process, which waits for the program's arguments; from the
 * second command on while the one before it runs, since a model may answer sooner than a sandbox is made, but only if that
 * command can move nothing the sandbox is made of.
 *
 * Each sandbox serves a single command. If one first process ran several commands, all of them could signal, limit
 * and starve it, and each would find what the one before left behind; so only waiting time is saved, not isolation. A
 * prepared sandbox that does not fit the request, or of which a part was replaced meanwhile, is ended, and a new one
 * is made as usual.
 */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../abi/program.ts";
import type { ExecSpec } from "../../kernel/ports/host.ts";
import { ABORTED } from "../../lib/abort.ts";
import type { PreparedChild } from "./prepared-child.ts";
import type { Confine } from "./sandbox/sandbox.ts";

/** A sandbox unused for this long is ended: its process may be busy with other work. */
const idleMs = 10_000;
/**
 * Bounds on the sandboxes kept. For all processes: at the bound no other is made, since where so many wait the machine is
 * busy, and one that is ended unused has only slowed the commands that run. For one process: the oldest is ended.
 */
const maxSpares = 16;
const maxOfProcess = 2;
/** Bound on the arguments: the first process reads them one character at a time. */
const maxChars = 8_192;

interface Spare {
  readonly spec: ExecSpec;
  readonly program: string;
  readonly prepared: PreparedChild;
  /** Aborted when the sandbox is no longer kept: it was taken, or is being ended. */
  readonly over: AbortController;
}

interface Maker {
  /** `known`: of the children that run now, those that can move nothing that it is made of. */
  prepare(spec: ExecSpec, program: string, known: number): PreparedChild;
  /** How the command is to be confined; undefined: not at all. */
  wantedOf(spec: ExecSpec, program: string): Confine | undefined;
}

export class Ahead {
  readonly #maker: Maker;
  readonly #clock: Pick<Clock, "sleep">;
  /** Oldest first. */
  readonly #spares = new Set<Spare>();
  readonly #ending = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(maker: Maker, clock: Pick<Clock, "sleep">) {
    this.#maker = maker;
    this.#clock = clock;
  }

  /** How many wait for their commands. */
  get size(): number {
    return [...this.#spares].filter(isStarted).length;
  }

  /** A fitting sandbox, whose program has not begun; undefined: none fits. */
  take(spec: ExecSpec, program: string): PreparedChild | undefined {
    const found = [...this.#spares].find((spare) => isOfKind(spare, spec, program));
    if (found === undefined || !isStarted(found) || !isShort(spec.argv)) return undefined;
    const wanted = this.#maker.wantedOf(spec, program);
    if (wanted === undefined || found.prepared.confinement?.holds(wanted) !== true) {
      this.#end(found);
      return undefined;
    }
    this.#spares.delete(found);
    found.over.abort(ABORTED);
    return found.prepared;
  }

  /**
   * Makes a sandbox for the command that may follow, after what is done in this round of the event loop: the start of
   * the last one, or the request to the model that its end leads to. Never rejects.
   */
  async follow(spec: ExecSpec, program: string, known = 0): Promise<void> {
    const until = spec.process?.until;
    if (until === undefined || spec.sandbox?.network !== "off") return;
    await new Promise((resolve) => setImmediate(resolve));
    if (until.aborted || this.#isClosed) return;
    if (this.#spares.size >= maxSpares) return;
    if ([...this.#spares].some((spare) => isOfKind(spare, spec, program))) return;
    try {
      // the arguments come later; those of the last command must not be used
      const bare = { ...spec, argv: [program] };
      this.#keep(
        { spec, program, prepared: this.#maker.prepare(bare, program, known), over: new AbortController() },
        until,
      );
    } catch {
      // the next command reports the error
    }
  }

  /** Resolves when all kept sandboxes have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const spare of this.#spares) this.#end(spare);
    await Promise.all(this.#ending);
  }

  #keep(spare: Spare, until: AbortSignal): void {
    const ofProcess = [...this.#spares].filter(({ spec }) => spec.process?.id === spare.spec.process?.id);
    for (const old of ofProcess.slice(0, Math.max(0, ofProcess.length + 1 - maxOfProcess))) this.#end(old);
    this.#spares.add(spare);
    const end = () => this.#end(spare);
    until.addEventListener("abort", end, { once: true, signal: spare.over.signal });
    void spare.prepared.launched.leader.ended.then(end);
    this.#clock.sleep(idleMs, spare.over.signal).then(end, () => {});
  }

  #end(spare: Spare): void {
    if (!this.#spares.delete(spare)) return;
    spare.over.abort(ABORTED);
    spare.prepared.drop();
    const ending = spare.prepared.launched.leader.ended.finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

const isStarted = ({ prepared }: Spare): boolean => prepared.launched.leader.pid !== undefined;

/** True if everything except the arguments is the same. */
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
