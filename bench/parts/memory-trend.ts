/** The memory of a process over a time: by the minute, how far it strays from its mean, and where it tends to. */
import { setInterval as every } from "node:timers";
import type { Row } from "../table.ts";
import { statusBytes } from "./os-process.ts";

const EACH_MS = 1_000;
const MINUTE_MS = 60_000;
/** What is not counted: code that runs for the first time is loaded and compiled. Of a short time a quarter. */
const WARM_UP_MS = MINUTE_MS;
const MOST_MINUTES = 12;
const MIB = 2 ** 20;

interface Sample {
  readonly atMs: number;
  readonly mib: number;
}

export class MemoryTrend implements Disposable {
  readonly #samples: Sample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    const began = performance.now();
    const look = (): void => {
      this.#samples.push({ atMs: performance.now() - began, mib: statusBytes(pid, "VmRSS") / MIB });
    };
    look();
    this.#timer = every(look, EACH_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  rows(name: string): readonly Row[] {
    const lastMs = this.#samples.at(-1)?.atMs ?? 0;
    const warmMs = Math.min(WARM_UP_MS, lastMs / 4);
    const warm = this.#samples.filter(({ atMs }) => atMs >= warmMs);
    const sizes = warm.map(({ mib }) => mib);
    const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
    const mean = sizes.reduce((sum, each) => sum + each, 0) / sizes.length;
    const strays = (Math.max(most - mean, mean - least) / mean) * 100;
    const hourly = (slope(warm) * MINUTE_MS * 60 * 100) / mean;
    const overS = ((lastMs - warmMs) / 1000).toFixed(0);
    return [
      [
        `${name}: memory over ${overS} s, after ${(warmMs / 1000).toFixed(0)} s`,
        `± ${strays.toFixed(1)} %`,
        `${mean.toFixed(1)} MiB (${least.toFixed(1)} to ${most.toFixed(1)})`,
        "",
        "± 5 %",
      ],
      [`${name}: tends to, in an hour`, `${hourly.toFixed(1)} %`, "", "", ""],
      ...(lastMs < 2 * MINUTE_MS ? [] : [[`${name}: MiB ${this.#byMinute(lastMs)}`, "", "", "", ""]]),
    ];
  }

  /** The mean of each minute, of a long time of some of them. */
  #byMinute(lastMs: number): string {
    const minutes = Math.floor(lastMs / MINUTE_MS);
    const step = Math.ceil(minutes / MOST_MINUTES);
    const shown: string[] = [];
    for (let minute = 1; minute <= minutes; minute += minute === 1 && step > 1 ? step - 1 : step) {
      const of = this.#samples.filter(({ atMs }) => Math.floor(atMs / MINUTE_MS) === minute - 1);
      const mean = of.reduce((sum, { mib }) => sum + mib, 0) / of.length;
      shown.push(`${minute}: ${mean.toFixed(1)}`);
    }
    return `by minute, ${shown.join(", ")}`;
  }
}

/** MiB a millisecond, by least squares. */
function slope(samples: readonly Sample[]): number {
  const n = samples.length;
  const meanAt = samples.reduce((sum, { atMs }) => sum + atMs, 0) / n;
  const meanMib = samples.reduce((sum, { mib }) => sum + mib, 0) / n;
  const over = samples.reduce((sum, { atMs, mib }) => sum + (atMs - meanAt) * (mib - meanMib), 0);
  const under = samples.reduce((sum, { atMs }) => sum + (atMs - meanAt) ** 2, 0);
  return under === 0 ? 0 : over / under;
}
