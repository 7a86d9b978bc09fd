/**
 * Lets at most `most` begin in one round of the event loop, in order. The others begin in later rounds, before which everything
 * else that is ready has its turn. Its queue is as long as its callers are many: they bound it.
 */
export interface Pace {
  /** Resolves when the caller may begin. */
  next(): Promise<void>;
  /** Nobody begins until the returned function is called. Of callers that never stop to hold, `mostHeld` waiting ones take no notice. */
  hold(): () => void;
}

export function paced(
  most: number,
  nextRound: (begin: () => void) => unknown = setImmediate,
  mostHeld = 256,
): Pace {
  const waiting: (() => void)[] = [];
  /** Above 0: a round is due. */
  let begun = 0;
  let holds = 0;
  const isHeld = (): boolean => holds > 0 && waiting.length < mostHeld;
  const round = (): void => {
    const next = isHeld() ? [] : waiting.splice(0, most);
    begun = next.length;
    if (begun > 0) nextRound(round);
    for (const begin of next) begin();
  };
  const wake = (): void => {
    if (begun > 0 || waiting.length === 0 || isHeld()) return;
    begun = most;
    nextRound(round);
  };
  return {
    next() {
      if (begun >= most || holds > 0 || waiting.length > 0)
        return new Promise((resolve) => {
          waiting.push(resolve);
          wake();
        });
      if (begun++ === 0) nextRound(round);
      return Promise.resolve();
    },
    hold() {
      let isOver = false;
      holds++;
      return () => {
        if (isOver) return;
        isOver = true;
        holds--;
        wake();
      };
    },
  };
}
