/** Names one may have meant: those at most a third of their letters away, nearest first. */
export function nearNames(name: string, known: readonly string[]): string[] {
  return known
    .map((candidate) => ({ candidate, distance: distance(name.toLowerCase(), candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.ceil(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate);
}

/** Edits of one letter (Levenshtein). Long names are cut: they are near to nothing. */
function distance(from: string, to: string): number {
  const a = from.slice(0, 64);
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
