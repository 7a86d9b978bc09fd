import { SIGNALS, signalName } from "../abi/process.ts";
import type { Console } from "./console.ts";
import type { Host } from "./host.ts";

/** How long the last words of a second Ctrl-C may take before we leave anyway. */
const LAST_WORDS_MS = 1000;

/**
 * Ctrl-C during a run. Once: SIGINT to the process, whose end is then awaited as usual. Twice: SIGKILL, and
 * `abandoned` fires. Before there is anything to end, the first one abandons.
 */
export class RunInterrupt implements AsyncDisposable {
  readonly #host: Pick<Host, "daemon" | "interrupts">;
  readonly #console: Console;
  readonly #abandon = new AbortController();
  readonly #unlisten: () => void;
  #state: "connecting" | "spawning" | { readonly pid: number } = "connecting";
  #presses = 0;
  /** Signals are sent one after the other; never rejects. */
  #sending: Promise<void> = Promise.resolve();

  constructor(host: Pick<Host, "daemon" | "interrupts">, console: Console) {
    this.#host = host;
    this.#console = console;
    this.#unlisten = host.interrupts.listen(() => this.#press());
  }

  get abandoned(): AbortSignal {
    return this.#abandon.signal;
  }

  /** Pressed a second time: whatever the process comes to, the command has been told to leave. */
  get isInsisted(): boolean {
    return this.#presses > 1;
  }

  /** From here on a process may exist that we do not know yet: a Ctrl-C waits for its pid. */
  spawning(): void {
    this.#state = "spawning";
  }

  spawned(pid: number): void {
    this.#state = { pid };
    if (this.#presses > 0) this.#interrupt(pid);
  }

  /** Resolves when no signal is being sent: what it did to the process is shown behind the line that tells of it. */
  async told(): Promise<void> {
    await this.#sending;
  }

  /** Stops listening; resolves when nothing is being sent any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten();
    await this.#sending;
  }

  #press(): void {
    this.#presses++;
    const state = this.#state;
    if (this.#presses > 2 || state === "connecting") this.#leave();
    else if (state === "spawning") {
      if (this.#presses === 2) this.#leave();
    } else if (this.#presses === 1) this.#interrupt(state.pid);
    else this.#kill(state.pid);
  }

  #interrupt(pid: number): void {
    this.#queue(() => this.#send(pid, SIGNALS.SIGINT, this.abandoned));
  }

  #kill(pid: number): void {
    this.#queue(async () => {
      await this.#send(pid, SIGNALS.SIGKILL, AbortSignal.timeout(LAST_WORDS_MS));
      this.#leave();
    });
  }

  #leave(): void {
    this.#abandon.abort();
  }

  #queue(work: () => Promise<void>): void {
    this.#sending = this.#sending.then(work);
  }

  /** Over a connection of its own: the stream has taken the first. */
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
