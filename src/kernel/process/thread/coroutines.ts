/**
 * The coroutines of one process. Created on first use. Bounded: a cancelled coroutine counts until its body has
 * returned, so a body that ignores its signal still counts. They end with the daemon.
 */
import { Fault } from "../../../abi/errors.ts";
import { asCoId, type CoId, type Pid } from "../../../abi/ids.ts";
import type { CoroutineStep } from "../../../abi/sys.ts";
import { abortable } from "../../../lib/abort.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { endWithin } from "../end/grace.ts";
import { Coroutine, type CoroutineBody, hasEnded } from "./coroutine.ts";

export class Coroutines {
  readonly #ofProcess: AbortSignal;
  readonly #coroutines = new Map<CoId, Coroutine>();
  #next = 1;

  constructor(ofProcess: AbortSignal) {
    this.#ofProcess = ofProcess;
  }

  /** The number of coroutines that have not ended. */
  get live(): number {
    return [...this.#coroutines.values()].filter(({ isEnded }) => !isEnded).length;
  }

  spawn(body: CoroutineBody): CoId {
    if (this.#coroutines.size >= LIMITS.coroutines) {
      const hint = "cancel those that are not resumed any more";
      throw new Fault({ code: "UNAVAILABLE", message: `too many coroutines: ${LIMITS.coroutines}`, hint });
    }
    const id = asCoId(this.#next++);
    const coroutine = new Coroutine(body, this.#ofProcess);
    this.#coroutines.set(id, coroutine);
    void coroutine.returned.then(() => this.#coroutines.delete(id));
    return id;
  }

  /** A caller that gives up does not stop the coroutine: it keeps running, and its next value is dropped. */
  async resume(id: CoId, value: unknown, signal: AbortSignal): Promise<CoroutineStep<unknown, unknown>> {
    const coroutine = this.#find(id);
    if (coroutine === undefined) throw hasEnded();
    signal.throwIfAborted();
    return abortable(coroutine.resume(value), signal);
  }

  /** No effect on a coroutine that has ended. */
  cancel(id: CoId): void {
    this.#find(id)?.cancel();
  }

  /** Cancels all and waits for their bodies to return, at most 5 s. */
  async clear(pid: Pid, { clock, log }: Pick<KernelPorts, "clock" | "log">): Promise<void> {
    const all = [...this.#coroutines.values()];
    for (const coroutine of all) coroutine.cancel();
    const ends = all.map(({ returned }) => returned);
    if (!(await endWithin(clock, ends, LIMITS.threadGraceMs)))
      log("error", `pid ${pid}: ${this.#coroutines.size} coroutines do not end; given up`);
    this.#coroutines.clear();
  }

  /** undefined: the coroutine has ended. */
  #find(id: CoId): Coroutine | undefined {
    if (Number.isInteger(id) && id >= 1 && id < this.#next) return this.#coroutines.get(id);
    throw new Fault({ code: "NOT_FOUND", message: `coroutine not found: ${id}` });
  }
}
