/** One coroutine: a body that runs only between a resume and a yield. Values pass both ways, one for one, in order. */
import { Fault } from "../../../abi/errors.ts";
import type { CoroutineHandle, CoroutineStep } from "../../../abi/sys.ts";
import { type LinkedSignal, linkSignals } from "../../../lib/abort.ts";

export type CoroutineBody = (co: CoroutineHandle<unknown, unknown>, first: unknown) => Promise<unknown>;
type Step = CoroutineStep<unknown, unknown>;

export class Coroutine {
  readonly #body: CoroutineBody;
  readonly #cancel = new AbortController();
  readonly #linked: LinkedSignal;
  readonly #returned = Promise.withResolvers<void>();
  #phase: "new" | "running" | "yielded" | "ended" = "new";
  /** Who resumed, while the body runs. */
  #resumer: PromiseWithResolvers<Step> | null = null;
  /** The body in its yield. */
  #yielder: PromiseWithResolvers<unknown> | null = null;

  constructor(body: CoroutineBody, ofProcess: AbortSignal) {
    this.#body = body;
    this.#linked = linkSignals(ofProcess, this.#cancel.signal);
    if (this.#linked.signal.aborted) this.#drain();
    else this.#linked.signal.addEventListener("abort", () => this.#drain(), { once: true });
  }

  get isEnded(): boolean {
    return this.#phase === "ended";
  }

  /** The body has returned, or never will run; never rejects. One that was cancelled may take its time. */
  get returned(): Promise<void> {
    return this.#returned.promise;
  }

  /** CONFLICT while it runs, INVALID after its end. Rejects with what the body throws. */
  resume(value: unknown): Promise<Step> {
    if (this.#phase === "ended") throw hasEnded();
    if (this.#phase === "running") throw new Fault({ code: "CONFLICT", message: "the coroutine is running" });
    const isNew = this.#phase === "new";
    this.#phase = "running";
    const resumer = Promise.withResolvers<Step>();
    this.#resumer = resumer;
    if (isNew) void this.#run(value);
    else this.#yielder?.resolve(value);
    return resumer.promise;
  }

  /** Who waits for it, and its body in a yield, hear CANCELLED. Twice is once. */
  cancel(): void {
    this.#cancel.abort();
  }

  async #run(first: unknown): Promise<void> {
    const { signal } = this.#linked;
    try {
      const value = await this.#body({ yield: (out) => this.#yield(out), signal }, first);
      this.#end()?.resolve({ done: true, value });
    } catch (error) {
      this.#end()?.reject(error);
    }
    this.#leave();
  }

  #yield(value: unknown): Promise<unknown> {
    if (this.#phase === "ended") return Promise.reject(cancelled());
    if (this.#phase === "yielded")
      return Promise.reject(new Fault({ code: "CONFLICT", message: "it has yielded and was not resumed" }));
    this.#phase = "yielded";
    this.#yielder = Promise.withResolvers<unknown>();
    // a body that does not wait for its yield must not take the daemon with it when it is cancelled
    this.#yielder.promise.catch(() => {});
    this.#resumer?.resolve({ done: false, value });
    this.#resumer = null;
    return this.#yielder.promise;
  }

  #drain(): void {
    if (this.#phase === "new") this.#leave();
    const yielder = this.#yielder;
    this.#end()?.reject(cancelled());
    yielder?.reject(cancelled());
  }

  #leave(): void {
    this.#linked[Symbol.dispose]();
    this.#returned.resolve();
  }

  /** Who waited for it, if anybody does. */
  #end(): PromiseWithResolvers<Step> | null {
    const resumer = this.#resumer;
    this.#phase = "ended";
    this.#resumer = null;
    this.#yielder = null;
    return resumer;
  }
}

export function hasEnded(): Fault {
  return new Fault({ code: "INVALID", message: "the coroutine has ended" });
}

function cancelled(): Fault {
  return new Fault({ code: "CANCELLED", message: "the coroutine was cancelled" });
}
