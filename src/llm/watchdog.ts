/** A timer over a stream: a dead connection brings no next event that could be late. */
import type { StreamEvent } from "../abi/llm.ts";
import { LlmError } from "../abi/llm-error.ts";
import type { Clock } from "../abi/program.ts";
import { startTimer } from "./timer.ts";

export interface Patience {
  readonly firstMs: number;
  readonly gapMs: number;
}

interface Watch {
  readonly patience: Patience;
  readonly clock: Clock;
  readonly device: string;
}

const defaultGapMs = 90_000;

/** `CRUX_STREAM_IDLE_TIMEOUT_MS`; unparsable or below 1 is the default. A local model may load for minutes first. */
export function patienceOf(env: Readonly<Record<string, string>>, isLocal: boolean): Patience {
  const value = Number(env.CRUX_STREAM_IDLE_TIMEOUT_MS);
  const gapMs = Number.isFinite(value) && value >= 1 ? value : defaultGapMs;
  return { gapMs, firstMs: isLocal ? Math.max(gapMs, 600_000) : gapMs };
}

/**
 * The events of `source`. Silence ends the attempt through `abort`: `timeout` before the first event, `stream_stalled`
 * after it; a ping is a sign of life. Time in which the consumer keeps us waiting does not count.
 */
export async function* watched(
  source: AsyncIterable<StreamEvent>,
  { patience, clock, device }: Watch,
  abort: (reason: LlmError) => void,
): AsyncGenerator<StreamEvent> {
  const iterator = source[Symbol.asyncIterator]();
  let isFirst = true;
  try {
    for (;;) {
      const ms = isFirst ? patience.firstMs : patience.gapMs;
      const kind = isFirst ? "timeout" : "stream_stalled";
      const message = isFirst ? `no first event within ${ms / 1000} s` : `no event for ${ms / 1000} s`;
      const cancel = startTimer(clock, ms, () => abort(new LlmError({ kind, device, message })));
      const step = await iterator.next().finally(cancel);
      if (step.done === true) return;
      isFirst = false;
      yield step.value;
    }
  } finally {
    await iterator.return?.();
  }
}
