/** Dollars as whole millionths, so that sums are exact. */

/** Rounded up: no call is cheaper than it was. Far below a millionth it is noise of the arithmetic. */
export function microUsd(usd: number): number {
  return Math.ceil(Number((usd * 1_000_000).toFixed(4)));
}

export function usdOf(micro: number): number {
  return micro / 1_000_000;
}

/** `$1.50`, `$0.0021`: cents, or the first two digits that are not zero where it is less. */
export function shownUsd(micro: number): string {
  const usd = Math.abs(micro) / 1_000_000;
  const digits = usd === 0 || usd >= 0.1 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(usd)));
  return `${micro < 0 ? "-" : ""}$${usd.toFixed(digits)}`;
}
