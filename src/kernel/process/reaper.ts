/**
 * Takes the zombies whose parent is the kernel: at once when their client has read the end, else a minute after the exit,
 * so that `ps` shows them. A zombie whose parent lives waits for that parent.
 */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "./process.ts";
import { reapProcess } from "./reap.ts";

export class Reaper {
  readonly #core: () => Core;
  readonly #waiting = new Set<Process>();
  readonly #stop = new AbortController();

  constructor(core: () => Core) {
    this.#core = core;
  }

  /** `now`: its client has read the end, or its parent was reaped. `seen`: it has just ended. */
  offer(proc: Process, when: "now" | "seen"): void {
    if (proc.state !== "zombie" || proc.ppid !== PID_KERNEL || proc.reaping !== null) return;
    if (when === "now") void reapProcess(this.#core(), proc);
    else if (proc.watchers.count === 0) this.#later(proc);
  }

  close(): void {
    this.#stop.abort();
  }

  #later(proc: Process): void {
    if (this.#waiting.has(proc)) return;
    this.#waiting.add(proc);
    const core = this.#core();
    core.ports.clock.sleep(LIMITS.zombieMs, this.#stop.signal).then(
      () => {
        this.#waiting.delete(proc);
        void reapProcess(core, proc);
      },
      () => this.#waiting.delete(proc),
    );
  }
}
