/** Accessors for parsed JSON from outside: a missing value, or one of another type, becomes empty. */
export type Json = Record<string, unknown>;

/** Deeper than any call or answer; what walks through a value nests as deep. */
const MOST_DEPTH = 500;

/** As JSON.parse, for text from outside. Throws SyntaxError, also where it nests too deeply. */
export function foreignJson(text: string): unknown {
  if (text.length > 2 * MOST_DEPTH && isTooDeep(text)) throw new SyntaxError("nested too deeply");
  return JSON.parse(text);
}

const MARKS = /["[\]{}]/g;

function isTooDeep(text: string): boolean {
  let depth = 0;
  MARKS.lastIndex = 0;
  for (let mark = MARKS.exec(text); mark !== null; mark = MARKS.exec(text)) {
    if (mark[0] === '"') MARKS.lastIndex = endOfString(text, mark.index);
    else if (mark[0] === "]" || mark[0] === "}") depth--;
    else if (++depth > MOST_DEPTH) return true;
  }
  return false;
}

/** The index after the closing quote of the string that begins there. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return text.length;
}

export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function objectsOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
