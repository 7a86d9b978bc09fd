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
  const found = within("places", { regex, texts }, maxMs);
  if (found === LATE) return null;
  return Array.from(found as ArrayLike<number>, (at, text) => [text, at] as const).filter(
    ([, at]) => at >= 0,
  );
}

/** The named groups of the first match; undefined: there is none; null: not finished within `maxMs`. */
export function findGroups(
  regex: RegExp,
  text: string,
  maxMs: number,
): Readonly<Record<string, string | undefined>> | undefined | null {
  const found = within("match", { regex, texts: [text] }, maxMs);
  if (found === LATE) return null;
  return found === null ? undefined : ((found as RegExpExecArray).groups ?? {});
}

const LATE = Symbol("late");

function within(
  what: "places" | "match",
  values: { readonly regex: RegExp; readonly texts: readonly string[] },
  maxMs: number,
): unknown {
  searching ??= {
    places: new Script("texts.map((text) => text.search(regex))"),
    match: new Script("regex.exec(texts[0])"),
    sandbox: createContext({ regex: null, texts: [] }),
  };
  const { sandbox } = searching;
  Object.assign(sandbox, values);
  try {
    return searching[what].runInContext(sandbox, { timeout: maxMs });
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return LATE;
    throw error;
  } finally {
    Object.assign(sandbox, { regex: null, texts: [] });
  }
}

/** Made once: a new context costs more than most searches. */
let searching: { readonly places: Script; readonly match: Script; readonly sandbox: Context } | undefined;
