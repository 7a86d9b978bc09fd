import type { WireRow } from "../../../abi/methods/process.ts";

/** The observed window, and the interval between its samples. */
const WINDOW_MS = 60_000;
const SAMPLE_MS = 10_000;

interface Sample {
  /** By the clock of the process, which stops at its end, in ms. */
  readonly at: number;
  readonly tokens: number;
}

/** Tokens per minute over the last minute; for a process watched for less than ten seconds, since it began. */
export class TokenRates {
  #samples = new Map<number, readonly Sample[]>();

  /** Rates by pid; an ended process has none. Keeps at most seven samples per process. */
  update(rows: readonly WireRow[]): ReadonlyMap<number, number> {
    const samples = new Map<number, readonly Sample[]>();
    const rates = new Map<number, number>();
    for (const { pid, state, elapsed_ms: at, tokens_used: tokens } of rows) {
      const now = { at, tokens };
      const kept = sampled(this.#samples.get(pid) ?? [], now);
      samples.set(pid, kept);
      rates.set(pid, state === "running" ? rateOf(kept, now) : 0);
    }
    this.#samples = samples;
    return rates;
  }
}

function sampled(samples: readonly Sample[], now: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && now.at - last.at < SAMPLE_MS) return samples;
  return [...samples.filter(({ at }) => now.at - at <= WINDOW_MS), now];
}

function rateOf([first]: readonly Sample[], now: Sample): number {
  const isLong = first !== undefined && now.at - first.at >= SAMPLE_MS;
  const since = isLong ? first : { at: 0, tokens: 0 };
  const ms = now.at - since.at;
  return ms <= 0 ? 0 : Math.round(((now.tokens - since.tokens) * 60_000) / ms);
}
