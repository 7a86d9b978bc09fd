/**
 * The limits of a program of the host that no budget counts: memory and processors. The kernel measures what all its OS
 * processes use, again and again, and acts by signals, so both hold with any sandbox and with none.
 */
import type { NativeOptions } from "../../abi/native.ts";
import { EXIT } from "../../abi/process.ts";
import { LIMITS } from "../limits.ts";
import type { ExecChild } from "../ports/host.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { endLive, type Finishing } from "../process/end/finish.ts";
import type { Process } from "../process/process.ts";
import type { NativeControl } from "./native-control.ts";

/** What limits need of the kernel. */
type Limiting = Finishing & { readonly ports: Pick<KernelPorts, "clock"> };

interface Limited {
  readonly proc: Process;
  readonly child: Pick<ExecChild, "signal">;
  readonly control: Pick<NativeControl, "usage">;
  readonly options: Pick<NativeOptions, "cpuCores" | "memoryBytes">;
}

/** Beyond its memory a program is killed; beyond its processors it is stopped for a while. Ends with `over`; never rejects. */
export async function holdLimits(core: Limiting, limited: Limited, over: AbortSignal): Promise<void> {
  const { cpuCores, memoryBytes = Infinity } = limited.options;
  if (cpuCores === undefined && memoryBytes === Infinity) return;
  const { clock } = core.ports;
  const share = cpuCores === undefined ? undefined : new CpuShare(cpuCores, clock.mono());
  try {
    for (;;) {
      await clock.sleep(LIMITS.useLookMs, over);
      const { usage } = limited.control;
      if (usage === null) continue;
      if (usage.rssBytes > memoryBytes) {
        const reason = `memory limit: ${usage.rssBytes} of ${memoryBytes} bytes`;
        limited.proc.ending.decide({ ...EXIT.sigkill, reason });
        endLive(core, limited.proc, 0);
        return;
      }
      if (share !== undefined) holdShare(limited, share.take(usage.cpuMs, clock.mono()));
    }
  } catch {
    // it has ended
  }
}

/** One that is to end, or is paused, is left alone. */
function holdShare({ proc, child }: Limited, { wasHeld, isHeld }: Held): void {
  if (proc.abort.signal.aborted || proc.isPaused) return;
  if (isHeld) child.signal("SIGSTOP");
  else if (wasHeld) child.signal("SIGCONT");
}

interface Held {
  readonly wasHeld: boolean;
  readonly isHeld: boolean;
}

/** How much processor time is used beyond a share of so many cores. What is not used of the share is not saved up. */
export class CpuShare {
  readonly #cores: number;
  #usedMs = 0;
  #atMs: number;
  #beyondMs = 0;

  constructor(cores: number, mono: number) {
    this.#cores = cores;
    this.#atMs = mono;
  }

  /** `usedMs`: the processor time that it has used since its start. `isHeld`: it must not run now. */
  take(usedMs: number, mono: number): Held {
    const wasHeld = this.#beyondMs > 0;
    const [used, passed] = [usedMs - this.#usedMs, mono - this.#atMs];
    // a stop that was longer than it had to be is made up for
    const least = wasHeld ? -this.#cores * passed : 0;
    this.#beyondMs = Math.max(least, this.#beyondMs + used - this.#cores * passed);
    this.#usedMs = usedMs;
    this.#atMs = mono;
    return { wasHeld, isHeld: this.#beyondMs > 0 };
  }
}
