const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Formats a size: `512 B`, `5.1 MiB`. */
export function byteSize(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
