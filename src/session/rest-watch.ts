/**
 * Removes idle sessions without followers from memory after a while. One timer serves all of them; whether a session
 * may rest is checked when its time has come, not at each change.
 */

import { PID_KERNEL } from "../abi/ids.ts";
import { layToRest, type Resting } from "../kernel/process/end/shutdown.ts";
import { type JobPorts, liveJobs } from "../kernel/process/jobs.ts";
import type { Process } from "../kernel/process/process.ts";
import { STDIN } from "../kernel/process/spawn/stdio.ts";
import type { ProcessTable } from "../kernel/process/table.ts";
import { viewRequestOf } from "../kernel/process/view-requests.ts";
import { ABORTED } from "../lib/abort.ts";

/** What watching idle sessions needs of the kernel. */
type Watching = Resting & JobPorts & { readonly table: Pick<ProcessTable, "childrenOf"> };

export class RestWatch {
  readonly #core: () => Watching;
  readonly #restAfterMs: () => number;
  /** The time since which each session is idle, monotonic ms; the oldest first. */
  readonly #since = new Map<Process, number>();
  #timer: AbortController | null = null;
  #isClosed = false;

  constructor(core: () => Watching, restAfterMs: () => number) {
    this.#core = core;
    this.#restAfterMs = restAfterMs;
  }

  /** Called when work of the session may have ended: if it is idle, its time begins again. */
  idle(proc: Process): void {
    const core = this.#core();
    if (this.#isClosed || !isIdle(core, proc) || liveJobs(core, proc) > 0) return;
    this.#since.delete(proc);
    this.#since.set(proc, core.ports.clock.mono());
    this.#arm();
  }

  /** False: it is not idle, or a client follows it. Else it leaves memory at once. */
  now(proc: Process): boolean {
    const core = this.#core();
    if (this.#isClosed || !isIdle(core, proc) || liveJobs(core, proc) > 0) return false;
    this.#since.delete(proc);
    void layToRest(core, proc, "what it works with is changed");
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#since.clear();
    this.#timer?.abort(ABORTED);
    this.#timer = null;
  }

  #arm(): void {
    if (this.#timer !== null || this.#since.size === 0) return;
    const { clock } = this.#core().ports;
    const [oldest = 0] = this.#since.values();
    const stop = new AbortController();
    this.#timer = stop;
    const leftMs = Math.max(1, oldest + this.#restAfterMs() - clock.mono());
    clock.sleep(leftMs, stop.signal).then(
      () => {
        this.#timer = null;
        this.#look();
      },
      () => {},
    );
  }

  #look(): void {
    const core = this.#core();
    const until = core.ports.clock.mono() - this.#restAfterMs();
    for (const [proc, since] of this.#since) {
      if (since > until) break;
      this.#since.delete(proc);
      if (isIdle(core, proc) && liveJobs(core, proc) === 0)
        void layToRest(core, proc, "it has had nothing to do");
    }
    this.#arm();
  }
}

/**
 * No client follows it, no message waits, and nothing is in progress. A child of another process rests with that
 * process.
 */
function isIdle(core: Watching, proc: Process): boolean {
  const { conversation, life, watchers, mailbox } = proc;
  if (conversation === null || conversation.run !== null || life.now.is !== "running") return false;
  if (proc.halt.why !== null || proc.ending.verdict !== null) return false;
  if (!proc.past.isRestorable || proc.fds.has(STDIN)) return false;
  if (watchers.count > 0 || (mailbox?.size ?? 0) > 0 || viewRequestOf(proc) !== null) return false;
  return core.table.childrenOf(proc.pid).length === 0 && isAlone(proc);
}

function isAlone({ ppid, threads, coroutines }: Process): boolean {
  return ppid === PID_KERNEL && (threads?.live ?? 0) === 0 && (coroutines?.live ?? 0) === 0;
}

/** It waits for a message, but no client follows it; it can be restored from the journal when a client does. */
export function isUnattended(proc: Process): boolean {
  const { conversation, watchers, mailbox } = proc;
  if (conversation === null || conversation.run !== null || viewRequestOf(proc) !== null) return false;
  return watchers.count === 0 && (mailbox?.size ?? 0) === 0;
}
