/**
 * Finds the texts that a pattern matches, under a deadline: some patterns run for hours, and would block the thread.
 */
import { type Context, createContext, Script } from "node:vm";

/** The indexes of the matching texts; null: not finished within `maxMs`. */
export function findMatching(
  regex: RegExp,
  texts: readonly string[],
  maxMs: number,
): readonly number[] | null {
  return findPlaces(regex, texts, maxMs)?.map(([text]) => text) ?? null;
}

/** The indexes of the matching texts, each with the offset of its first match; null: not finished within `maxMs`. */
export function findPlaces(
  regex: RegExp,
  texts: readonly string[],
  maxMs: number,
): readonly (readonly [text: number, at: number])[] | null {
  searching ??= {
    script: new Script("texts.map((text) => text.search(regex))"),
    sandbox: createContext({ regex: null, texts: [] }),
  };
  const { script, sandbox } = searching;
  Object.assign(sandbox, { regex, texts });
  try {
    const found: unknown = script.runInContext(sandbox, { timeout: maxMs });
    return Array.from(found as ArrayLike<number>, (at, text) => [text, at] as const).filter(
      ([, at]) => at >= 0,
    );
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return null;
    throw error;
  } finally {
    Object.assign(sandbox, { regex: null, texts: [] });
  }
}

/** Made once: a new context costs more than most searches. */
let searching: { readonly script: Script; readonly sandbox: Context } | undefined;
