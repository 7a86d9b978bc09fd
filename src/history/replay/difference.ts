/** Shows where two texts differ: an extract that begins shortly before the first difference. */
const SHOWN_CHARS = 200;
const BEFORE_CHARS = 40;

export function differenceOf(expected: string, got: string): { expected: string; got: string } {
  let at = 0;
  while (at < expected.length && expected[at] === got[at]) at++;
  return { expected: around(expected, at), got: around(got, at) };
}

export function shown(text: string): string {
  return around(text, 0);
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - BEFORE_CHARS);
  const part = text.slice(from, from + SHOWN_CHARS).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${from + SHOWN_CHARS < text.length ? "…" : ""}`;
}
