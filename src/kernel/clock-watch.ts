/**
 * Gaps in time: the daemon was frozen, or the wall clock was set. The clock itself keeps such time out of all
 * deadlines; here it is reported, in the kernel's history and in the log. While no process is live nothing is watched,
 * so that an idle daemon sleeps.
 *
 * Another daemon may have taken over meanwhile. That needs no check of its own: every effect begins with its intent,
 * and the journal refuses the records of a daemon that is fenced off.
 */
import { PID_KERNEL } from "../abi/ids.ts";
import { KERNEL_UUID } from "./ports/journal.ts";
import type { KernelPorts } from "./ports/kernel-ports.ts";
import type { TimeGap } from "./ports/time-gaps.ts";

export class ClockWatch {
  readonly #ports: KernelPorts;
  #live = 0;
  #end: () => void = () => {};

  constructor(ports: KernelPorts) {
    this.#ports = ports;
    ports.gaps?.onGap((gap) => this.#tell(gap));
  }

  /** A process has become live. */
  enter(): void {
    if (this.#live++ === 0) this.#end = this.#ports.gaps?.watch() ?? (() => {});
  }

  /** A process that has entered is gone. */
  leave(): void {
    if (--this.#live === 0) this.#end();
  }

  #tell({ gapMs, jumpMs }: TimeGap): void {
    const { journal, log } = this.#ports;
    journal.note([
      { proc: KERNEL_UUID, pid: PID_KERNEL, kind: "kernel.clock", v: 1, body: { gapMs, jumpMs } },
    ]);
    log("warn", gapWords(gapMs, jumpMs));
  }
}

function gapWords(gapMs: number, jumpMs: number): string {
  const words: string[] = [];
  if (gapMs > 0) words.push(`nothing ran for ${secondsOf(gapMs)}: no deadline counts that time`);
  if (jumpMs !== 0)
    words.push(`the wall clock went ${jumpMs > 0 ? "ahead" : "back"} by ${secondsOf(Math.abs(jumpMs))}`);
  return `clock: ${words.join("; ")}`;
}

function secondsOf(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
