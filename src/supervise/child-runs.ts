/**
 * Starts and shuts down the children of one supervisor, and reports their ends. A process is reaped before its exit has
 * any consequence, so that its own children are gone when the next run begins, and no zombies stay.
 */
import { messageOf } from "../abi/errors.ts";
import type { ExitStatus } from "../abi/process.ts";
import { reapProcess } from "../kernel/process/end/reap.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Child, ChildRun } from "./child.ts";
import { plainExit } from "./crash-report.ts";
import { endProcess, sendKill } from "./end-process.ts";
import { type Extra, type Seat, startChild } from "./start-child.ts";

/** What a start needs beside its specification. `told` resolves when all output of this run has been passed on. */
export type Attendance = Extra & { readonly told?: () => Promise<void> };

interface RunListener {
  attend(child: Child): Attendance;
  /** The run ended by itself, or by a signal from elsewhere. */
  exited(child: Child, run: ChildRun, exit: ExitStatus): void;
  /** The run ended because `stop` shut it down. */
  shutDown(child: Child, run: ChildRun, exit: ExitStatus): void;
}

export class ChildRuns {
  readonly #seat: Seat;
  readonly #listener: RunListener;
  #isKilled = false;

  constructor(seat: Seat, listener: RunListener) {
    this.#seat = seat;
    this.#listener = listener;
  }

  /**
   * Waits while the supervisor is paused. Resolves when the child runs. Errors: those of spawn; CANCELLED after `stop`.
   */
  async start(child: Child, stop: AbortController): Promise<ChildRun> {
    const over = Promise.withResolvers<void>();
    child.starting = { stop, over: over.promise };
    try {
      await this.#untilResumed(stop.signal);
      const { told, ...extra } = this.#listener.attend(child);
      const proc = await this.#made(child, stop.signal, extra);
      return this.#begin(child, proc, told);
    } finally {
      child.starting = null;
      over.resolve();
    }
  }

  /** Takes over a restored process that an earlier daemon started. */
  adopt(child: Child, proc: Process): void {
    this.#begin(child, proc, undefined);
  }

  /**
   * Shuts the child down; resolves when it is gone. Repeated calls share one shutdown. Does nothing if it does not run.
   */
  stop(child: Child): Promise<void> {
    const { run } = child;
    if (run === null) return Promise.resolve();
    run.stopping ??= this.#stop(child, run);
    return run.stopping;
  }

  /** Kills all children at once, also those whose start is in progress. */
  kill(): void {
    this.#isKilled = true;
    const { core, supervisor } = this.#seat;
    for (const proc of core.table.childrenOf(supervisor.pid)) sendKill(core, proc);
  }

  /** Closes the files opened for a run if its start fails: the other end of a pipe would wait for them. */
  async #made(child: Child, signal: AbortSignal, extra: Extra): Promise<Process> {
    try {
      return await startChild(this.#seat, { child, signal, extra });
    } catch (error) {
      await Promise.allSettled((extra.files ?? []).map(({ file }) => file.close()));
      throw error;
    }
  }

  #begin(child: Child, proc: Process, told: Attendance["told"]): ChildRun {
    const { core } = this.#seat;
    const run: ChildRun = {
      pid: proc.pid,
      proc,
      startedMono: core.ports.clock.mono(),
      gone: this.#gone(proc, told),
      stopping: null,
    };
    child.begin(run);
    run.gone.then(
      (exit) => {
        if (run.stopping === null) this.#listener.exited(child, run, exit);
      },
      // the kernel abandoned all processes (abandon.ts): this is not an exit
      () => {},
    );
    return run;
  }

  async #gone(proc: Process, told: Attendance["told"]): Promise<ExitStatus> {
    const exit = await proc.done.promise;
    const { core } = this.#seat;
    await reapProcess(core, proc);
    await told?.().catch((error: unknown) => {
      core.ports.log("error", `pid ${proc.pid}: what it said could not be told: ${messageOf(error)}`);
    });
    return exit;
  }

  async #stop(child: Child, run: ChildRun): Promise<void> {
    const { core } = this.#seat;
    if (run.proc !== null) await endProcess(core, run.proc, this.#isKilled ? "kill" : child.spec.shutdown);
    const exit = await run.gone;
    child.end(plainExit(exit), core.ports.clock.mono() - run.startedMono);
    this.#listener.shutDown(child, run, exit);
  }

  async #untilResumed(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { supervisor } = this.#seat;
    await supervisor.halt.untilResumed(signal);
  }
}
