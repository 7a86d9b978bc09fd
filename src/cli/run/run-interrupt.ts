import { SIGNALS, signalName } from "../../abi/process.ts";
import type { Console } from "../console.ts";
import type { Host } from "../host/host.ts";
import { InterruptTwice, LAST_WORDS_MS } from "./interrupt-twice.ts";

/**
 * Ctrl-C during a run. The first press sends SIGINT to the process; the second sends SIGKILL, and the command leaves.
 */
export class RunInterrupt implements AsyncDisposable {
  readonly #host: Pick<Host, "daemon" | "interrupts">;
  readonly #console: Console;
  readonly #twice: InterruptTwice<number>;
  /** Signals are sent one after the other; never rejects. */
  #sending: Promise<void> = Promise.resolve();

  constructor(host: Pick<Host, "daemon" | "interrupts">, console: Console) {
    this.#host = host;
    this.#console = console;
    this.#twice = new InterruptTwice(host.interrupts, {
      ask: (pid) => this.#queue(() => this.#send(pid, SIGNALS.SIGINT, this.abandoned)),
      insist: (pid) =>
        this.#queue(() => this.#send(pid, SIGNALS.SIGKILL, AbortSignal.timeout(LAST_WORDS_MS))),
    });
  }

  get abandoned(): AbortSignal {
    return this.#twice.abandoned;
  }

  /** Ctrl-C was pressed a second time: the command leaves, however the process ends. */
  get isInsisted(): boolean {
    return this.#twice.presses > 1;
  }

  /** From now on a process may exist whose pid is not known yet: a Ctrl-C waits for that pid. */
  spawning(): void {
    this.#twice.beginning();
  }

  spawned(pid: number): void {
    this.#twice.began(pid);
  }

  /**
   * Resolves when no signal is being sent, so that the effect on the process is shown after the line about the signal.
   */
  told(): Promise<void> {
    return this.#twice.told();
  }

  /** Stops listening; resolves when nothing is being sent any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#twice[Symbol.asyncDispose]();
  }

  #queue(work: () => Promise<void>): Promise<void> {
    this.#sending = this.#sending.then(work);
    return this.#sending;
  }

  /** Sends over a new connection: the stream occupies the first. */
  async #send(
    pid: number,
    signal: typeof SIGNALS.SIGINT | typeof SIGNALS.SIGKILL,
    abort: AbortSignal,
  ): Promise<void> {
    try {
      const client = await this.#host.daemon.find(abort);
      await client?.request("kill", { pid, signal }, abort);
      client?.close();
      await this.#console.errorLine(`[kernel] PID ${pid}: signal sent (${signalName(signal)})`);
    } catch (error) {
      if (!abort.aborted) await this.#console.fail(error);
    }
  }
}
