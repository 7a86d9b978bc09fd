/**
 * Lets at most `most` begin in one round of the event loop, in order. The others begin in later rounds, before which everything
 * else that is ready has its turn. Its queue is as long as its callers are many: they bound it.
 */
export function paced(
  most: number,
  nextRound: (begin: () => void) => unknown = setImmediate,
): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let begun = 0;
  const round = (): void => {
    const next = waiting.splice(0, most);
    begun = next.length;
    if (begun > 0) nextRound(round);
    for (const begin of next) begin();
  };
  return () => {
    if (begun >= most) return new Promise((resolve) => waiting.push(resolve));
    if (begun++ === 0) nextRound(round);
    return Promise.resolve();
  };
}
