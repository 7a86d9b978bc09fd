import { codeOf } from "../../../abi/errors.ts";
import type { Params } from "../../../abi/methods/methods.ts";
import type { Console } from "../../console.ts";
import type { Host } from "../../host/host.ts";
import { InterruptTwice, LAST_WORDS_MS } from "../../run/interrupt-twice.ts";

/**
 * Ctrl-C while a project is followed. The first press sends `down`, whose end the stream shows; the second kills the
 * whole project.
 */
export class ProjectInterrupt implements AsyncDisposable {
  readonly #host: Pick<Host, "daemon" | "interrupts">;
  readonly #console: Console;
  readonly #twice: InterruptTwice<string>;

  constructor(host: Pick<Host, "daemon" | "interrupts">, console: Console) {
    this.#host = host;
    this.#console = console;
    this.#twice = new InterruptTwice(host.interrupts, {
      ask: (project) => this.#send({ project }, `${project}: stopping, Ctrl-C again kills`, this.abandoned),
      // concurrently with the first, which waits for the end
      insist: (project) =>
        this.#send({ project, kill: true }, `${project}: killing`, AbortSignal.timeout(LAST_WORDS_MS)),
    });
  }

  get abandoned(): AbortSignal {
    return this.#twice.abandoned;
  }

  get wasPressed(): boolean {
    return this.#twice.presses > 0;
  }

  /** From now on a project may run that is not known yet: a Ctrl-C waits for the response. */
  starting(): void {
    this.#twice.beginning();
  }

  started(project: string): void {
    this.#twice.began(project);
  }

  /** Stops listening; resolves when nothing is being sent any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#twice[Symbol.asyncDispose]();
  }

  /** Sends over a new connection: the stream occupies the first. */
  async #send(request: Params<"compose.down">, said: string, abort: AbortSignal): Promise<void> {
    try {
      if (this.#console.isScreen) await this.#console.errorLine(`[compose] ${said}`);
      const client = await this.#host.daemon.find(abort);
      await client?.request("compose.down", request, abort);
      client?.close();
    } catch (error) {
      // the project has ended by itself meanwhile
      if (!abort.aborted && codeOf(error) !== "NOT_FOUND") await this.#console.fail(error);
    }
  }
}
