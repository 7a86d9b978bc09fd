/** Time spans as users write them: `90s`, `10m`, `1h30m`, `7d`. */

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The span in milliseconds; undefined: not a time span. */
export function durationMs(text: string): number | undefined {
  if (!/^(?:\d{1,9}[smhd])+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+)([smhd])/g)];
  return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}

/** Like durationMs, limited to spans from a minute to 31 days. */
export function spanMs(text: string): number | undefined {
  const ms = durationMs(text);
  return ms !== undefined && ms >= 60_000 && ms <= 31 * 86_400_000 ? ms : undefined;
}
