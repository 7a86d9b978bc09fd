/**
 * What ends a print run from outside: Ctrl-C, SIGTERM, a stdout that nobody reads any more, its deadline. The first one asks
 * the run to end, and its result is printed; a second Ctrl-C kills it. Agents that work for the session in the background end, too:
 * nobody is there any more for what they find.
 */
import { EXIT, SIGNALS } from "../../abi/process.ts";
import { STDOUT_CLOSED } from "../../lib/stdout-closed.ts";
import { MAX_TIMER_MS } from "../../lib/time/max-timer.ts";
import type { ChatClient } from "../chat/client.ts";
import type { Host } from "../host/host.ts";
import { LAST_WORDS_MS } from "../run/interrupt-twice.ts";

const INTERRUPTED = 130;
const TERMINATED = 143;

interface Target {
  readonly pid: number;
  readonly isNew: boolean;
}

export class Stops implements AsyncDisposable {
  /** The exit code of the command once it was stopped. */
  code: number | undefined;
  readonly #client: Pick<ChatClient, "request">;
  readonly #abandon = new AbortController();
  readonly #unlisten: Array<() => void> = [];
  #target: Target | undefined;
  #timeoutMs: number | undefined;
  #sending: Promise<unknown> = Promise.resolve();
  /** Called at the first stop. */
  onStop: () => void = () => {};

  constructor(client: Pick<ChatClient, "request">) {
    this.#client = client;
  }

  /** Fires when the command must not wait for the end of the run. */
  get abandoned(): AbortSignal {
    return this.#abandon.signal;
  }

  async listen({ interrupts, lifecycle }: Pick<Host, "interrupts" | "lifecycle">): Promise<void> {
    this.#unlisten.push(
      interrupts.listen(() => this.#stop(INTERRUPTED)),
      lifecycle.onTerminate(() => this.#stop(TERMINATED)),
    );
    this.#unlisten.push(await lifecycle.onReaderGone(() => this.#stop(STDOUT_CLOSED)));
  }

  /** The time after which the run was stopped; undefined: it was not, or for another reason. */
  get timedOutMs(): number | undefined {
    return this.code === EXIT.timeout.code ? this.#timeoutMs : undefined;
  }

  /** From now on there is something to end. */
  began(target: Target, timeoutMs?: number): void {
    this.#target = target;
    this.#timeoutMs = timeoutMs;
    if (timeoutMs !== undefined) {
      const timer = setTimeout(() => this.#stop(EXIT.timeout.code), Math.min(timeoutMs, MAX_TIMER_MS));
      this.#unlisten.push(() => clearTimeout(timer));
    }
    if (this.code !== undefined) this.#sending = this.#end(target, this.code);
  }

  #stop(code: number): void {
    const isFirst = this.code === undefined;
    this.code ??= code;
    if (this.#target === undefined) this.#abandon.abort();
    else if (isFirst) this.#sending = this.#end(this.#target, code);
    else if (code === INTERRUPTED) this.#sending = this.#kill(this.#target);
    if (isFirst) this.onStop();
  }

  /** A session stays, to be continued; but nobody has heard of a new one whose reader is gone. */
  async #end({ pid, isNew }: Target, code: number): Promise<void> {
    const ends = code === STDOUT_CLOSED && isNew;
    const asked = ends
      ? this.#client.request("kill", { pid, signal: SIGNALS.SIGTERM })
      : this.#client.request("kill", { pid, signal: SIGNALS.SIGINT, background: leftBy(isNew) });
    await asked.catch(() => this.#abandon.abort());
  }

  async #kill({ pid }: Target): Promise<void> {
    const sent = this.#client.request("kill", { pid, signal: SIGNALS.SIGKILL }).catch(() => {});
    await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref())]);
    this.#abandon.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const unlisten of this.#unlisten) unlisten();
    await this.#sending;
  }
}

/** What a command that was stopped ends: its agents; commands only of its own session, as others may have use for them. */
export function leftBy(isNew: boolean): ("agents" | "jobs")[] {
  return isNew ? ["agents", "jobs"] : ["agents"];
}
