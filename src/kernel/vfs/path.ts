/**
 * Paths of the tree: absolute, at most 4,096 bytes; `//` is `/`, a final `/` and `.` segments are dropped, `..` is
 * refused.
 */
import { LIMITS } from "../limits.ts";

interface ParsedPath {
  /** Segments without `.`. */
  readonly segments: readonly string[];
  /** Indexes of the segments that had a `.` before them (the number of segments: a `.` at the end). */
  readonly dotBefore: ReadonlySet<number>;
}

/** undefined: the path is INVALID. */
export function parsePath(path: string): ParsedPath | undefined {
  if (!path.startsWith("/") || path.includes("\0") || Buffer.byteLength(path) > LIMITS.pathBytes)
    return undefined;
  const segments: string[] = [];
  const dotBefore = new Set<number>();
  for (const segment of path.split("/")) {
    if (segment === "..") return undefined;
    if (segment === ".") dotBefore.add(segments.length);
    else if (segment !== "") segments.push(segment);
  }
  return { segments, dotBefore };
}
