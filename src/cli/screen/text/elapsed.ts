/** Durations as the screens show them. */

/** Seconds with one decimal, even above a minute: `72.4s`. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

/** The duration of a call, rounded down: `999µs`, `1ms`, `5.20s`. The source counts microseconds. */
export function callDuration(ms: number): string {
  const us = Math.round(ms * 1000);
  if (us < 1000) return `${us}µs`;
  if (us < 1_000_000) return `${Math.floor(us / 1000)}ms`;
  const hundredths = Math.floor(us / 10_000);
  return `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, "0")}s`;
}
