/**
 * One coroutine: a body that runs only between a resume and a yield. Each resume passes a value in, each yield one out.
 */
import { Fault } from "../../../abi/errors.ts";
import type { CoroutineHandle, CoroutineStep } from "../../../abi/sys.ts";
import { ABORTED, type LinkedSignal, linkSignals } from "../../../lib/abort.ts";

export type CoroutineBody = (co: CoroutineHandle<unknown, unknown>, first: unknown) => Promise<unknown>;
type Step = CoroutineStep<unknown, unknown>;

export class Coroutine {
  readonly #body: CoroutineBody;
  readonly #cancel = new AbortController();
  readonly #linked: LinkedSignal;
  readonly #returned = Promise.withResolvers<void>();
  #phase: "new" | "running" | "yielded" | "ended" = "new";
  /** The pending resume, while the body runs. */
  #resumer: PromiseWithResolvers<Step> | null = null;
  /** The pending yield of the body. */
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

  /** Resolves when the body has returned or will never run; never rejects. A cancelled body may take its time. */
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

  /** A pending resume, and a body in its yield, get CANCELLED. Idempotent. */
  cancel(): void {
    this.#cancel.abort(ABORTED);
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
    // a body that does not await its yield must not crash the daemon by an unhandled rejection when it is cancelled
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

  /** Marks the coroutine as ended; returns the pending resume, if any. */
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
