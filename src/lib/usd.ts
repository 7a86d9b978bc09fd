/** Dollars as whole millionths, so that sums are exact. */

/** Rounds up, so that no call counts as cheaper than it was. Amounts far below a millionth are arithmetic noise. */
export function microUsd(usd: number): number {
  return Math.ceil(Number((usd * 1_000_000).toFixed(4)));
}

export function usdOf(micro: number): number {
  return micro / 1_000_000;
}

/** Formats as `$1.50` or `$0.0021`: cents or, for smaller amounts, the first two significant digits. */
export function shownUsd(micro: number): string {
  const usd = Math.abs(micro) / 1_000_000;
  const digits = usd === 0 || usd >= 0.1 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(usd)));
  return `${micro < 0 ? "-" : ""}$${usd.toFixed(digits)}`;
}
