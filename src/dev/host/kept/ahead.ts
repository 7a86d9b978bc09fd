/**
 * Sandboxes made before their commands. After a command of a process another with the same rights is likely: its
 * sandbox is set up while the model thinks. Where a keeper can be had, it serves all later commands that are confined alike,
 * each in namespaces of its own (kept-sandbox.ts). Else it serves one: set up to the first process, which waits for the program's
 * arguments, and from the second command on while the one before it runs, since a model may answer sooner than a sandbox is made,
 * but only if that command can move nothing the sandbox is made of.
 *
 * A sandbox that does not fit the request, or of which a part was replaced meanwhile, is ended, and a new one
 * is made as usual.
 */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../abi/program.ts";
import type { ExecSpec } from "../../../kernel/ports/host.ts";
import { ABORTED } from "../../../lib/abort.ts";
import type { Prepared, PreparedChild } from "../prepared-child.ts";
import type { Confine } from "../sandbox/sandbox.ts";
import type { Command, KeptSandbox } from "./kept-sandbox.ts";

/** One unused for this long is ended: its process may be busy with other work. */
const idleMs = { forOne: 10_000, kept: 60_000 };
/**
 * Bounds on their number. For all processes: at the bound no other is made; where so many that serve one command wait the machine is
 * busy, and one that is ended unused has only slowed the commands that run. For one process: the oldest is ended.
 */
const most = { forOne: 16, kept: 64 };
const maxOfProcess = 2;
/** Bound on the arguments: the first process reads them one character at a time. */
const maxChars = 8_192;

interface Spare {
  readonly spec: ExecSpec;
  readonly program: string;
  /** For one command, or kept for several. */
  readonly sandbox: PreparedChild | KeptSandbox;
  /** Aborted when the sandbox is no longer kept: it was taken, or is being ended. */
  readonly over: AbortController;
}

interface Maker {
  /** `known`: of the children that run now, those that can move nothing that it is made of. */
  prepare(spec: ExecSpec, program: string, known: number): PreparedChild | KeptSandbox;
  /** The command with the environment that it is started with. */
  dressed(spec: ExecSpec, program: string): Command;
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
    return [...this.#spares].filter((spare) => isStarted(spare) && !isBusy(spare)).length;
  }

  /** The session whose commands this process of ours makes a sandbox for, null without one; undefined: it makes none. */
  ownerOf(osPid: number): string | null | undefined {
    for (const { sandbox, spec } of this.#spares)
      if (pidOf(sandbox) === osPid) return spec.env.CRUX_SESSION_ID ?? null;
    return undefined;
  }

  /** A child in a fitting sandbox, whose program has not begun; undefined: none fits. */
  take(spec: ExecSpec, program: string): Prepared | undefined {
    const found = [...this.#spares].find((spare) => !isOver(spare) && isOfKind(spare, spec, program));
    if (found === undefined || !isStarted(found) || !isShort(spec.argv)) return undefined;
    const { sandbox } = found;
    const wanted = this.#maker.wantedOf(spec, program);
    if (wanted === undefined || sandbox.confinement?.holds(wanted) !== true) {
      // one that is kept may yet serve others: only this program, or its folder, needs other mounts
      if (!isKept(sandbox) || !this.#stands(found)) this.#end(found);
      return undefined;
    }
    if (isKept(sandbox)) return sandbox.run(this.#maker.dressed(spec, program));
    this.#spares.delete(found);
    found.over.abort(ABORTED);
    return sandbox;
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
    const kept = [...this.#spares].filter(({ sandbox }) => isKept(sandbox)).length;
    if (kept >= most.kept || this.#spares.size - kept >= most.forOne) return;
    if ([...this.#spares].some((spare) => !isOver(spare) && isOfKind(spare, spec, program))) return;
    try {
      // the arguments come later; those of the last command must not be used
      const bare = { ...spec, argv: [program] };
      const sandbox = this.#maker.prepare(bare, program, known);
      this.#keep({ spec, program, sandbox, over: new AbortController() }, until);
    } catch {
      // the next command reports the error
    }
  }

  /** Whether it would be made in the same way again. */
  #stands({ sandbox, spec, program }: Spare): boolean {
    const own = this.#maker.wantedOf(spec, program);
    return own !== undefined && sandbox.confinement?.holds(own) === true;
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
    void endOf(spare).then(end);
    void this.#endIdle(spare);
  }

  async #endIdle(spare: Spare): Promise<void> {
    const { sandbox, over } = spare;
    try {
      do await this.#clock.sleep(isKept(sandbox) ? idleMs.kept : idleMs.forOne, over.signal);
      while (isKept(sandbox) && sandbox.wasUsed());
      this.#end(spare);
    } catch {
      // it was taken, or has ended
    }
  }

  #end(spare: Spare): void {
    if (!this.#spares.delete(spare)) return;
    spare.over.abort(ABORTED);
    spare.sandbox.drop();
    const ending = endOf(spare).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

const isKept = (sandbox: Spare["sandbox"]): sandbox is KeptSandbox => "run" in sandbox;
const isBusy = ({ sandbox }: Spare): boolean => isKept(sandbox) && sandbox.isBusy;
const isOver = ({ sandbox }: Spare): boolean => isKept(sandbox) && sandbox.isOver;
const pidOf = (sandbox: Spare["sandbox"]) => (isKept(sandbox) ? sandbox.osPid : sandbox.launched.leader.pid);
const endOf = ({ sandbox }: Spare): Promise<unknown> =>
  isKept(sandbox) ? sandbox.ended : sandbox.launched.leader.ended;
const isStarted = ({ sandbox }: Spare): boolean =>
  isKept(sandbox) ? sandbox.isReady : sandbox.launched.leader.pid !== undefined;

/** True if it serves the command: everything but the arguments is the same; of one that is kept, what its mounts are made from. */
function isOfKind(spare: Spare, spec: ExecSpec, program: string): boolean {
  if (!isKept(spare.sandbox)) return isOneOf(spare, spec, program);
  const { process, sandbox } = spare.spec;
  return process?.id === spec.process?.id && isDeepStrictEqual(sandbox, spec.sandbox);
}

function isOneOf(spare: Spare, spec: ExecSpec, program: string): boolean {
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
