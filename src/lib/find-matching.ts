/**
 * Which of many texts a pattern matches, under a deadline: a pattern can be made to search for hours, and the thread is
 * everybody's.
 */
import { createContext, runInContext } from "node:vm";

/** The indexes of the texts that match; null: not done within `maxMs`. */
export function findMatching(
  regex: RegExp,
  texts: readonly string[],
  maxMs: number,
): readonly number[] | null {
  return findPlaces(regex, texts, maxMs)?.map(([text]) => text) ?? null;
}

/** The indexes of the texts that match, each with the place in it where its first match begins. */
export function findPlaces(
  regex: RegExp,
  texts: readonly string[],
  maxMs: number,
): readonly (readonly [text: number, at: number])[] | null {
  const sandbox = createContext({ regex, texts });
  try {
    const found: unknown = runInContext("texts.map((text) => text.search(regex))", sandbox, {
      timeout: maxMs,
    });
    return Array.from(found as ArrayLike<number>, (at, text) => [text, at] as const).filter(
      ([, at]) => at >= 0,
    );
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return null;
    throw error;
  }
}
