/** Names near to a mistyped one, for hints. */

const MAX_HINTS = 3;
/** Longer names are not compared: the work grows with the product of lengths. */
const MAX_LENGTH = 100;

/** At most three of `names`, nearest first; equal in stem (`a.js`, `a.ts`) or a few edits away. */
export function similarNames(name: string, names: Iterable<string>): string[] {
  const ranked: { name: string; distance: number }[] = [];
  for (const candidate of names) {
    const distance = distanceOf(name, candidate);
    if (distance <= Math.max(1, Math.floor(name.length / 4))) ranked.push({ name: candidate, distance });
  }
  ranked.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return ranked.slice(0, MAX_HINTS).map((near) => near.name);
}

function distanceOf(a: string, b: string): number {
  if (a.length > MAX_LENGTH || b.length > MAX_LENGTH) return Number.POSITIVE_INFINITY;
  const [low, other] = [a.toLowerCase(), b.toLowerCase()];
  const sameStem = stem(low) === stem(other) && low.includes(".") && other.includes(".");
  return sameStem ? 0.5 : edits(low, other);
}

function stem(name: string): string {
  return name.replace(/\.[^.]+$/, "");
}

/** Levenshtein distance. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
