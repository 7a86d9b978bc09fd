/**
 * An additional loop in a process, with its own model file, signal and result. It shares the context, fds, rights and
 * account of the process.
 */
import { Fault } from "../../../abi/errors.ts";
import type { Fd, Tid } from "../../../abi/ids.ts";
import { EXIT, type ExitStatus, type ProcessState } from "../../../abi/process.ts";
import { ABORTED, type LinkedSignal, linkSignals } from "../../../lib/abort.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { codeOfExit } from "../end/finish.ts";
import { transition } from "../life/state.ts";
import type { Process } from "../process.ts";
import { type LoopRunner, reason } from "./reason.ts";

/** What a thread needs of the kernel. */
export interface Runner extends LoopRunner {
  readonly ports: LoopRunner["ports"] & Pick<KernelPorts, "log">;
}

export class Thread {
  readonly tid: Tid;
  readonly intent: string;
  readonly #proc: Process;
  readonly #abort = new AbortController();
  readonly #linked: LinkedSignal;
  readonly #ended = Promise.withResolvers<void>();
  #state: ProcessState = "created";
  #result = "";
  #err: Error | undefined;

  constructor(proc: Process, tid: Tid, intent: string) {
    this.#proc = proc;
    this.tid = tid;
    this.intent = intent;
    this.#linked = linkSignals(proc.abort.signal, this.#abort.signal);
  }

  /** Fires with the signal of the process, or when the thread is cancelled. */
  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Resolves when the thread has ended; never rejects. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get outcome(): { result: string; err?: Error } {
    const result = this.#result;
    return this.#err === undefined ? { result } : { result, err: this.#err };
  }

  cancel(): void {
    this.#abort.abort(ABORTED);
  }

  /** Frees a thread that could not be started. */
  discard(): void {
    this.#linked[Symbol.dispose]();
    this.#ended.resolve();
  }

  /** Runs the thread to its end. The kernel owns the promise: the process ends after it, see Threads.clear(). */
  start(core: Runner, modelFd: Fd, maxSteps: number): void {
    this.#move("running");
    void this.#run(core, modelFd, maxSteps);
  }

  /** Called when the outcome was collected. Idempotent. */
  bury(): void {
    if (this.#state === "zombie") this.#move("dead");
  }

  async #run(core: Runner, modelFd: Fd, maxSteps: number): Promise<void> {
    try {
      this.#err = this.#failureOf(await this.#work(core, modelFd, maxSteps));
    } catch (error) {
      const err = error instanceof Error ? error : new Error(String(error));
      this.#err = this.signal.aborted ? cancelled() : err;
    }
    await this.#closeModel(core, modelFd);
    // cancels calls that are still in progress
    this.#abort.abort(ABORTED);
    this.#linked[Symbol.dispose]();
    this.#move("zombie");
    this.#ended.resolve();
  }

  async #work(core: Runner, modelFd: Fd, maxSteps: number): Promise<ExitStatus | undefined> {
    const { intent, signal } = this;
    const setResult = (text: string): void => {
      this.#result = text;
    };
    return reason(core, this.#proc, { intent, modelFd, maxSteps, signal, setResult });
  }

  #failureOf(exit: ExitStatus = EXIT.unexpected): Error | undefined {
    if (exit.code === 0) return undefined;
    if (this.signal.aborted) return cancelled();
    return exit.err ?? new Fault({ code: codeOfExit(exit), message: exit.reason });
  }

  /** Closes the file directly and not by a call, since the handle may be revoked. */
  async #closeModel(core: Runner, modelFd: Fd): Promise<void> {
    const { fds, pid } = this.#proc;
    if (!fds.has(modelFd)) return;
    await fds.close(modelFd).catch((error: Error) => {
      core.ports.log("warn", `pid ${pid}: thread ${this.tid}: close: ${error.message}`);
    });
  }

  #move(to: ProcessState): void {
    this.#state = transition(this.#state, to, { pid: this.#proc.pid, syscall: "Thread" });
  }
}

function cancelled(): Fault {
  return new Fault({ code: "CANCELLED", message: "the thread was cancelled" });
}
