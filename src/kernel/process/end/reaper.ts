/**
 * Reaps internal forks, and the zombies whose parent is the kernel: at once when their client has read the end, else a minute
 * after the exit, so that `ps` shows them; likewise those whose parent was told of their end. Of very many that end within that
 * minute the oldest make room: one that is only shown holds its memory as one that runs. Any other zombie waits for its parent.
 */
import { ABORTED } from "../../../lib/abort.ts";
import { LIMITS } from "../../limits.ts";
import type { Life } from "../life/life.ts";
import type { Process } from "../process.ts";
import { type Reaping, reapProcess } from "./reap.ts";
import { isInBackground } from "./report.ts";

export class Reaper {
  readonly #core: () => Reaping;
  /** The zombies to be reaped later, each with the controller that cancels its timer. */
  readonly #waiting = new Map<Process, AbortController>();
  #closed = false;

  constructor(core: () => Reaping) {
    this.#core = core;
  }

  /** `now`: the client has read the end, or the parent was reaped. `seen`: the process has just ended. */
  offer(proc: Process, when: "now" | "seen"): void {
    if (!isFree(proc.life.now) || !(proc.isLeft || isInBackground(proc))) return;
    // a client still reads: the process is offered again when that client leaves
    if (proc.watchers.count > 0) return;
    if (when === "now") void reapProcess(this.#core(), proc);
    else this.#later(proc);
  }

  /** Cancels the timer of a process that was reaped elsewhere. */
  forget(proc: Process): void {
    this.#waiting.get(proc)?.abort(ABORTED);
    this.#waiting.delete(proc);
  }

  /** Cancels all timers; the remaining zombies are reaped by the shutdown. */
  close(): void {
    this.#closed = true;
    for (const stop of this.#waiting.values()) stop.abort(ABORTED);
    this.#waiting.clear();
  }

  #later(proc: Process): void {
    if (this.#closed || this.#waiting.has(proc)) return;
    const stop = new AbortController();
    this.#waiting.set(proc, stop);
    this.#core()
      .ports.clock.sleep(LIMITS.zombieMs, stop.signal)
      .then(
        () => this.#reap(proc),
        () => {},
      );
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > LIMITS.zombies && oldest !== undefined) this.#reap(oldest);
  }

  #reap(proc: Process): void {
    this.forget(proc);
    void reapProcess(this.#core(), proc);
  }
}

/** Whether it is a zombie whose reaping has not begun. */
function isFree(life: Life): boolean {
  return life.is === "zombie" && life.reaping === null;
}
