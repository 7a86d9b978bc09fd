/** Replaces text in a text: literally, first exactly, then with curly quotes treated as straight ones. Pure. */
import { countLines } from "../text.ts";

type Replacement =
  | { kind: "replaced"; text: string; count: number }
  | { kind: "none" }
  /** Numbers of the first five lines where a match begins, from 1. */
  | { kind: "many"; lines: number[] };

interface Change {
  /** Never empty. */
  oldString: string;
  newString: string;
  replaceAll: boolean;
}

const LISTED_LINES = 5;

export function replaceText(text: string, change: Change): Replacement {
  const oldString = inLineStyle(text, change.oldString);
  const newString = inLineStyle(text, change.newString);
  const exact = occurrences(text, oldString);
  const found = exact.length > 0 ? exact : occurrences(straighten(text), straighten(oldString));
  if (found.length === 0) return { kind: "none" };
  if (found.length > 1 && !change.replaceAll) return { kind: "many", lines: lineNumbers(text, found) };
  const parts: string[] = [];
  let at = 0;
  for (const start of found) {
    const end = start + oldString.length;
    const matched = text.slice(start, end);
    parts.push(text.slice(at, start), exact.length > 0 ? newString : inQuoteStyle(matched, newString));
    at = end;
  }
  return { kind: "replaced", text: parts.join("") + text.slice(at), count: found.length };
}

/** Start positions, left to right, without overlap. */
function occurrences(text: string, wanted: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length))
    starts.push(at);
  return starts;
}

function lineNumbers(text: string, starts: readonly number[]): number[] {
  return starts.slice(0, LISTED_LINES).map((start) => countLines(`${text.slice(0, start)}.`));
}

/** In a file with only CRLF line ends, a bare newline stands for CRLF; in any other file it stands for itself. */
function inLineStyle(text: string, given: string): string {
  const allCrlf = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
  return allCrlf ? given.replaceAll(/\r?\n/g, "\r\n") : given;
}

/** Replaces one character by one, so that positions stay valid. */
function straighten(text: string): string {
  return text.replaceAll(/[‘’]/g, "'").replaceAll(/[“”]/g, '"');
}

/** Gives the new text the kind of quotes of the replaced text; quotes that it does not have stay as given. */
function inQuoteStyle(matched: string, given: string): string {
  let text = given;
  if (/[“”]/.test(matched)) text = curl(text, ['"', "“", "”"]);
  else if (matched.includes('"')) text = text.replaceAll(/[“”]/g, '"');
  if (/[‘’]/.test(matched)) text = curl(text, ["'", "‘", "’"]);
  else if (matched.includes("'")) text = text.replaceAll(/[‘’]/g, "'");
  return text;
}

/**
 * A quote opens at the start, after a space or an opening bracket, dash or quote; an apostrophe inside a word closes.
 */
function curl(text: string, [straight, open, close]: readonly [string, string, string]): string {
  return text.replaceAll(straight, (_quote, at: number) =>
    /[\s([{<“‘—–]/.test(text[at - 1] ?? " ") ? open : close,
  );
}
