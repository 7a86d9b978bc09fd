/** Who tells the kernel of time in which the daemon could not run, and of a wall clock that jumped. */

export interface TimeGap {
  /** So long nothing ran; 0: the wall clock alone has moved. */
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
