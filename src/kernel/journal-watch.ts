/**
 * What processes do while the disk accepts no records. Degraded: nothing new begins, as in a pause; calls in progress
 * get their results, which the journal keeps; requests of clients fail with the reason; all resumes by itself. Lost:
 * nothing is acknowledged any more, and the daemon ends (daemon/run.ts). What each method promises stands in ports/journal-hold.ts.
 */

import { Fault, SyscallError } from "../abi/errors.ts";
import type { Fact } from "../abi/fact.ts";
import { PID_KERNEL } from "../abi/ids.ts";
import { abortable } from "../lib/abort.ts";
import { type Journal, type JournalDraft, type JournalState, KERNEL_UUID } from "./ports/journal.ts";
import type { JournalHold } from "./ports/journal-hold.ts";
import type { KernelPorts } from "./ports/kernel-ports.ts";
import type { Process } from "./process/process.ts";

type Degraded = Extract<JournalState, { state: "degraded" }>;

export class JournalWatch implements JournalHold<Process> {
  readonly #ports: KernelPorts;
  readonly #end: () => void;
  /** Settles when the journal is no longer degraded; null: it is not degraded. */
  #healing: PromiseWithResolvers<void> | null = null;
  #since = 0;
  #first: Degraded | null = null;
  /** Waiting processes, each with the number of its waiting calls: each process is notified once. */
  readonly #holding = new Map<Process, number>();

  constructor(ports: KernelPorts) {
    this.#ports = ports;
    this.#end = ports.journal.onState((state) => this.#turn(state));
    if (ports.journal.state.state === "degraded") this.#turn(ports.journal.state);
  }

  /** Called at the end of the kernel. */
  close(): void {
    this.#end();
  }

  check(syscall: string): void {
    const { state } = this.#ports.journal;
    if (state.state === "well") return;
    throw new SyscallError({
      syscall,
      pid: PID_KERNEL,
      code: "UNAVAILABLE",
      message: `${reasonOf(state)}; nothing was begun`,
      fact: factOf(state),
    });
  }

  get fact(): Fact | undefined {
    const { state } = this.#ports.journal;
    return state.state === "well" ? undefined : factOf(state);
  }

  /** For a daemon that starts on a read-only journal: the message for every client. */
  get readOnlyWords(): string {
    const { state } = this.#ports.journal;
    if (state.state === "well") return "";
    return `${reasonOf(state)}, so nothing runs and nothing is kept; what is on record can be looked at, and the next command after a repair finds all as it was`;
  }

  async held(proc: Process, syscall: string, signal: AbortSignal): Promise<void> {
    if (this.#healing !== null) await proc.halt.quiescence.suspend(this.wait(proc, syscall, signal));
  }

  async wait(proc: Process, syscall: string, signal: AbortSignal): Promise<void> {
    while (this.#healing !== null) {
      this.#hold(proc);
      try {
        await abortable(this.#healing.promise, signal);
      } catch (cause) {
        const { pid } = proc;
        throw new SyscallError({ syscall, pid, code: "CANCELLED", message: "cancelled", cause });
      } finally {
        this.#release(proc);
      }
    }
  }

  async append(
    proc: Process,
    syscall: string,
    signal: AbortSignal,
    drafts: readonly JournalDraft[],
  ): ReturnType<Journal["append"]> {
    const { journal } = this.#ports;
    for (let tries = 1; ; tries++) {
      await this.wait(proc, syscall, signal);
      try {
        return await journal.append(drafts);
      } catch (error) {
        // refused while the state changed, in either direction: retry once; only a degraded journal is waited for
        const isRefused = error instanceof Fault && error.code === "UNAVAILABLE";
        const { state } = journal.state;
        if (!isRefused || state === "lost" || (state === "well" && tries > 1)) throw error;
      }
    }
  }

  begin(intent: JournalDraft): void {
    const { journal } = this.#ports;
    journal.note([intent]);
    // a refusal changes the state of the journal, and whatever follows waits for that
    journal.sync().catch(() => {});
  }

  async heldUntil(proc: Process, signal: AbortSignal): Promise<void> {
    while (this.#healing !== null && !signal.aborted) {
      this.#hold(proc);
      await abortable(this.#healing.promise, signal).catch(() => {});
      this.#release(proc);
    }
  }

  #hold(proc: Process): void {
    const calls = this.#holding.get(proc) ?? 0;
    this.#holding.set(proc, calls + 1);
    if (calls > 0) return;
    const mono = this.#ports.clock.mono();
    proc.halt.stall(mono);
    const { state } = this.#ports.journal;
    if (state.state === "degraded")
      proc.log("warn", `paused: ${reasonOf(state)}; it resumes by itself when there is room`, mono);
  }

  #release(proc: Process): void {
    const calls = (this.#holding.get(proc) ?? 1) - 1;
    if (calls > 0) {
      this.#holding.set(proc, calls);
      return;
    }
    this.#holding.delete(proc);
    const mono = this.#ports.clock.mono();
    proc.halt.unstall(mono);
    if (this.#ports.journal.state.state === "well")
      proc.log("info", "the disk is writable again; resumed", mono);
  }

  #turn(state: JournalState): void {
    if (state.state === "degraded") {
      if (this.#healing === null) this.#begin(state);
      return;
    }
    if (this.#healing === null) return;
    if (state.state === "well") this.#record();
    this.#first = null;
    this.#healing.resolve();
    this.#healing = null;
  }

  #begin(state: Degraded): void {
    this.#healing = Promise.withResolvers<void>();
    this.#since = this.#ports.clock.mono();
    this.#first = state;
    this.#ports.log(
      "error",
      `${reasonOf(state)}; processes are paused and resume by themselves when it is writable`,
    );
  }

  #record(): void {
    const { journal, clock, log } = this.#ports;
    const lastedMs = Math.round(clock.mono() - this.#since);
    const { reason = "", path = "", freeBytes = null, needBytes = 0 } = this.#first ?? {};
    const body = { reason, path, freeBytes, needBytes, lastedMs };
    journal.note([{ proc: KERNEL_UUID, pid: PID_KERNEL, kind: "journal.degraded", v: 1, body }]);
    log("info", `the journal is writable again after ${Math.round(lastedMs / 1000)} s`);
  }
}

/** One line for the user: what is wrong, and where. */
function reasonOf(state: Exclude<JournalState, { state: "well" }>): string {
  if (state.state === "lost") return state.message;
  const { reason, path, freeBytes, needBytes } = state;
  const isRoom = freeBytes === null || freeBytes >= needBytes;
  const room = isRoom ? "" : ` (${bytesOf(freeBytes)} free, ${bytesOf(needBytes)} needed)`;
  const what: Readonly<Record<string, string>> = {
    journal_full: `no space for the journal at ${path}${room}`,
    journal_readonly: `the journal at ${path} cannot be written`,
    journal_slow: `the disk of the journal at ${path} does not answer`,
  };
  return `${reason}: ${what[reason] ?? `the journal at ${path} takes nothing${room}`}`;
}

function factOf(state: Exclude<JournalState, { state: "well" }>): Fact {
  if (state.state === "lost") return { kind: "journal_lost" };
  const { reason, path } = state;
  return { kind: "disk", reason, path };
}

function bytesOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let [value, unit] = [bytes / 1024, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${Math.round(value * 10) / 10} ${units[unit]}`;
}
