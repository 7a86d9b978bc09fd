/** The local day of a wall-clock time in ms, as `2026-01-05`. A time of day would make every prompt differ. */
export function localDay(nowMs: number): string {
  const date = new Date(nowMs);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
