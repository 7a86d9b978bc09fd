import { editDistance, nearest } from "../lib/text/near-names.ts";

const MAX_HINTS = 3;

/** At most three of `names`, nearest first; same stem (`a.js`, `a.ts`) or a few edits away. For hints. */
export function similarNames(name: string, names: Iterable<string>): string[] {
  const limit = Math.max(1, Math.floor(name.length / 4));
  const near = nearest([...names].sort(), (other) => {
    const distance = distanceOf(name, other);
    return other !== name && distance <= limit ? distance : null;
  });
  return near.slice(0, MAX_HINTS);
}

function distanceOf(a: string, b: string): number {
  const [low, other] = [a, b].map((text) => text.toLowerCase().normalize("NFC")) as [string, string];
  const sameStem = stem(low) === stem(other) && low.includes(".") && other.includes(".");
  return sameStem ? 0.5 : editDistance(low, other);
}

function stem(name: string): string {
  return name.replace(/\.[^.]+$/, "");
}
