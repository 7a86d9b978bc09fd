import { codeOf } from "../../abi/errors.ts";
import type { Params } from "../../abi/methods.ts";
import type { Console } from "../console.ts";
import type { Host } from "../host.ts";

/** How long the last words of a second Ctrl-C may take before we leave anyway. */
const LAST_WORDS_MS = 1_000;

/**
 * Ctrl-C while a project is followed. Once: `down`, whose end the stream shows. Twice: KILL to all of it, and `abandoned`
 * fires. Before there is anything to stop, the first one abandons.
 */
export class ProjectInterrupt implements AsyncDisposable {
  readonly #host: Pick<Host, "daemon" | "interrupts">;
  readonly #console: Console;
  readonly #abandon = new AbortController();
  readonly #unlisten: () => void;
  #state: "connecting" | "starting" | { readonly project: string } = "connecting";
  #presses = 0;
  /** At most one down and one kill; none rejects. */
  readonly #sending: Promise<void>[] = [];

  constructor(host: Pick<Host, "daemon" | "interrupts">, console: Console) {
    this.#host = host;
    this.#console = console;
    this.#unlisten = host.interrupts.listen(() => this.#press());
  }

  get abandoned(): AbortSignal {
    return this.#abandon.signal;
  }

  get wasPressed(): boolean {
    return this.#presses > 0;
  }

  /** From here on a project may run that we do not know of yet: a Ctrl-C waits for the answer. */
  starting(): void {
    this.#state = "starting";
  }

  started(project: string): void {
    this.#state = { project };
    if (this.#presses > 0) this.#down(project);
  }

  /** Stops listening; resolves when nothing is being sent any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten();
    await Promise.all(this.#sending);
  }

  #press(): void {
    this.#presses++;
    const state = this.#state;
    if (this.#presses > 2 || state === "connecting") this.#abandon.abort();
    else if (state === "starting") {
      if (this.#presses === 2) this.#abandon.abort();
    } else if (this.#presses === 1) this.#down(state.project);
    else this.#sending.push(this.#kill(state.project));
  }

  #down(project: string): void {
    this.#sending.push(this.#send({ project }, `${project}: stopping, Ctrl-C again kills`, this.abandoned));
  }

  async #kill(project: string): Promise<void> {
    await this.#send({ project, kill: true }, `${project}: killing`, AbortSignal.timeout(LAST_WORDS_MS));
    this.#abandon.abort();
  }

  /** Over a connection of its own: the stream has taken the first. */
  async #send(request: Params<"compose.down">, said: string, abort: AbortSignal): Promise<void> {
    try {
      if (this.#console.isScreen) await this.#console.errorLine(`[compose] ${said}`);
      const client = await this.#host.daemon.find(abort);
      await client?.request("compose.down", request, abort);
      client?.close();
    } catch (error) {
      // it has ended by itself meanwhile
      if (!abort.aborted && codeOf(error) !== "NOT_FOUND") await this.#console.fail(error);
    }
  }
}
