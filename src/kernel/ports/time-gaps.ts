/** Reports to the kernel when the daemon could not run for a while, and when the wall clock jumped. */

export interface TimeGap {
  /** How long nothing ran; 0: only the wall clock has moved. */
  readonly gapMs: number;
  /** How far the wall clock moved against the monotonic one. */
  readonly jumpMs: number;
}

export interface TimeGaps {
  /** Looks once a second as long as anybody watches. The result ends it. */
  watch(): () => void;
  /** Told of each, from now on. The result ends it. */
  onGap(listener: (gap: TimeGap) => void): () => void;
}
