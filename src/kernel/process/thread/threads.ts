/**
 * The threads of one process. Created on first use. Bounded: an ended thread counts until it is joined, so that no
 * outcome is lost and none is kept for ever. They end with the daemon: after a restart the process resumes without
 * them.
 */
import { O_RDWR } from "../../../abi/device.ts";
import { Fault } from "../../../abi/errors.ts";
import { asTid, type Tid } from "../../../abi/ids.ts";
import type { Syscalls, ThreadView } from "../../../abi/sys.ts";
import { abortable } from "../../../lib/abort.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { endWithin } from "../end/grace.ts";
import type { Process } from "../process.ts";
import { type Runner, Thread } from "./thread.ts";
import type { ThreadSet } from "./thread-set.ts";

/** What threads need of the kernel. */
export interface Threading extends Runner {
  readonly ports: Runner["ports"] & Pick<KernelPorts, "clock">;
  handle(self: Process, scope: null, signal: AbortSignal): Pick<Syscalls, "open">;
}

export function threadsOf(core: Threading, proc: Process): ThreadSet {
  return proc.ownThreads(() => new Threads(core, proc));
}

class Threads implements ThreadSet {
  readonly #core: Threading;
  readonly #proc: Process;
  readonly #threads = new Map<Tid, Thread>();
  #next = 1;
  #clearing: Promise<void> | null = null;

  constructor(core: Threading, proc: Process) {
    this.#core = core;
    this.#proc = proc;
  }

  /** The number of threads that have not ended. */
  get live(): number {
    return [...this.#threads.values()].filter(({ state }) => state !== "zombie").length;
  }

  /**
   * Resolves when the thread has its model and runs. If the open fails, the caller gets the error and no thread exists.
   */
  async spawn(intent: string, maxTurns: number, signal: AbortSignal): Promise<Tid> {
    const thread = this.#add(intent);
    // recorded before any call of the thread: a replay ends here
    this.#proc.tape?.input("threads", () => thread.tid);
    try {
      const { model, seed } = this.#proc;
      const handle = this.#core.handle(this.#proc, null, thread.signal);
      const modelFd = await handle.open(model.device, O_RDWR, signal);
      thread.start(this.#core, modelFd, maxTurns === 0 ? seed.maxSteps : maxTurns);
      return thread.tid;
    } catch (error) {
      this.#threads.delete(thread.tid);
      thread.discard();
      throw error;
    }
  }

  /** Waits for the end. Concurrent joins get the same outcome; later ones get NOT_FOUND. */
  async join(tid: Tid, signal: AbortSignal): Promise<{ result: string; err?: Error }> {
    const thread = this.#threads.get(tid);
    if (thread === undefined) throw unknown(tid);
    await abortable(thread.ended, signal);
    thread.bury();
    this.#threads.delete(tid);
    return thread.outcome;
  }

  /** Signals the thread; join() waits for its end. No effect on a thread that has ended. */
  cancel(tid: Tid): void {
    if (!Number.isInteger(tid) || tid < 1 || tid >= this.#next) throw unknown(tid);
    this.#threads.get(tid)?.cancel();
  }

  list(): ThreadView[] {
    return [...this.#threads.values()].map(({ tid, intent, state }) => ({ tid, intent, state }));
  }

  /** Cancels all threads and waits at most 5 s for their ends; refuses new ones. Later callers get the same promise. */
  clear(): Promise<void> {
    this.#clearing ??= this.#clear();
    return this.#clearing;
  }

  async #clear(): Promise<void> {
    const { clock, log } = this.#core.ports;
    const all = [...this.#threads.values()];
    for (const thread of all) thread.cancel();
    const ends = all.map(({ ended }) => ended);
    if (!(await endWithin(clock, ends, LIMITS.threadGraceMs)))
      log("error", `pid ${this.#proc.pid}: ${this.live} threads do not end; given up`);
    this.#threads.clear();
  }

  #add(intent: string): Thread {
    if (this.#clearing !== null) throw new Fault({ code: "CANCELLED", message: "the process ends" });
    if (this.#threads.size >= LIMITS.threads) {
      const hint = "join threads that have ended";
      throw new Fault({ code: "UNAVAILABLE", message: `too many threads: ${LIMITS.threads}`, hint });
    }
    const thread = new Thread(this.#proc, asTid(this.#next++), intent);
    this.#threads.set(thread.tid, thread);
    return thread;
  }
}

function unknown(tid: Tid): Fault {
  return new Fault({ code: "NOT_FOUND", message: `thread not found: ${tid}` });
}
