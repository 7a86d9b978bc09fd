/** Finds names close to a mistyped one, for hints. */

/** Longer names match nothing: the cost grows with the product of the lengths. */
const MAX_LENGTH = 100;

/**
 * The names of `known` at most `maxDistance` away, without `name`, nearest first; equally near ones keep their order.
 */
export function nearNames(
  name: string,
  known: readonly string[],
  maxDistance: number | ((candidate: string) => number),
): string[] {
  const isNear = (candidate: string, distance: number) =>
    distance <= (typeof maxDistance === "number" ? maxDistance : maxDistance(candidate));
  return nearest(known, (candidate) => {
    const distance = editDistance(name, candidate);
    return candidate !== name && isNear(candidate, distance) ? distance : null;
  });
}

/** The names with a distance, nearest first; equally near ones keep their order. */
export function nearest(
  known: readonly string[],
  distanceOf: (candidate: string) => number | null,
): string[] {
  return known
    .map((candidate) => ({ candidate, distance: distanceOf(candidate) ?? Infinity }))
    .filter(({ distance }) => distance < Infinity)
    .sort((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate);
}

/**
 * The number of letters to add, drop, replace or swap with their neighbour (optimal string alignment). Case-sensitive.
 */
export function editDistance(a: string, b: string): number {
  if (a.length > MAX_LENGTH || b.length > MAX_LENGTH) return Number.POSITIVE_INFINITY;
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? at(before, j - 2) + 1 : replaced;
      next.push(Math.min(replaced, swapped, at(row, j) + 1, at(next, j - 1) + 1));
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0;
}
