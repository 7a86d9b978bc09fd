/** What the wires see of the kernel. Everything a client does passes the handle of pid 0, and so the gate. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { AskAnswer, ProcessEvent, SyscallEvent } from "../../abi/events.ts";
import type { Pid } from "../../abi/ids.ts";
import type { ExitStatus } from "../../abi/process.ts";
import type { SpawnOpts, Sys } from "../../abi/sys.ts";

/** A bounded stream of events with one reader. Ends when the process does or `close` is called. */
export interface Subscription<T> extends AsyncIterable<T> {
  /** Events the queue had no room for; they are lost. */
  readonly dropped: number;
  /** The reader goes away: nothing is kept for it any more. Idempotent. */
  close(): void;
}

export interface KernelApi {
  /** The handle of pid 0: sees and controls all. */
  readonly init: Sys;
  /**
   * spawn() of pid 0 with a watcher attached before the first event, so that nothing is missed. While the watcher is
   * open, the process is not reaped; closing it hands a zombie to the reaper.
   */
  spawnWatched(
    intent: string,
    agent: AgentInfo | null,
    opts: SpawnOpts,
  ): Promise<{ pid: Pid; events: Subscription<ProcessEvent> }>;
  /**
   * The last 256 kernel calls, then live ones; ends when the debug channel closes. `all`: quiet calls too.
   * Queue of 256; a full queue drops the new event and counts it. NOT_FOUND: no such process.
   */
  attachDebug(pid: Pid, options: { all: boolean }): Subscription<SyscallEvent>;
  /** wait() with a deadline, and what the last line of a run shows. TIMEOUT: the process goes on. */
  waitFor(
    pid: Pid,
    signal: AbortSignal,
  ): Promise<{ exit: ExitStatus; tokensUsed: number; elapsedMs: number }>;
  /** First valid answer wins: CONFLICT later; NOT_FOUND unknown. `words` reach the model with a no. */
  answer(askId: string, answer: AskAnswer, words?: string): Promise<void>;
  /** The line a person must read before anything of this process; "" for none. */
  noticeOf(pid: Pid): string;
  /** Created and running processes that keep the daemon alive. */
  active(): number;
  /** TERM to all, `graceMs`, KILL, reaped; no new spawns from now on (UNAVAILABLE). Idempotent. */
  shutdown(graceMs: number): Promise<void>;
}
