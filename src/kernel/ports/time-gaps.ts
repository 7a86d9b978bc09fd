/** Reports to the kernel when the daemon could not run for a while, and when the wall clock jumped. */

export interface TimeGap {
  /** How long nothing ran, ms; 0: only the wall clock has moved. */
  readonly gapMs: number;
  /** How far the wall clock moved against the monotonic one. */
  readonly jumpMs: number;
}

export interface TimeGaps {
  /** Checks once a second as long as there are watchers. The result stops watching. */
  watch(): () => void;
  /** Calls `listener` for each gap from now on. The result stops that. */
  onGap(listener: (gap: TimeGap) => void): () => void;
}
