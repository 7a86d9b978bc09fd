/**
 * Templates in scenario texts: `{{source}}` or `{{source | filter | filter …}}`.
 *
 * Sources: `cwd`, `pid`, `scratch`, `model`, `user` (the message that began the run), `result` (all results in the last
 * message), `result:<n>` (of the n-th call of this run, from 1), `rows:<n>` (its lines without blank ones, without
 * notes in square brackets and without "No matches found"; empty if the call failed), `note:<n>` (its notes in square
 * brackets), `error:<n>` (its first line, if the call failed). `<n>` may be `last`. `errors` has the first lines of all
 * failed calls of this run. A value that does not exist is empty.
 *
 * Filters on lines: `count`, `first <n>`, `top <n>` (the n largest by the number after the last colon), `sum` (of those
 * numbers), `names` (the text before the last colon), `list` (a bullet before each), `quote` (four blanks before each).
 * Filters on the whole: `clip <n>` (characters), `or <text>` (if empty), `then <text>` (if not empty). A text may stand
 * in double quotes, to keep its blanks.
 */
import type { CallResult, Conversation } from "./conversation.ts";

export interface Variables {
  readonly cwd: string;
  readonly pid: number;
  readonly scratch: string;
  readonly conversation: Conversation;
}

/** Throws RangeError for a source or filter that does not exist. */
export function render(text: string, variables: Variables): string {
  return text.replaceAll(/\{\{(.*?)\}\}/gs, (_whole, inner: string) => {
    const [source = "", ...filters] = inner.split("|").map((part) => part.trim());
    return filters.reduce(applyFilter, readSource(source, variables));
  });
}

/** Renders all strings in a value, at any depth. */
export function renderAll(value: unknown, variables: Variables): unknown {
  if (typeof value === "string") return render(value, variables);
  if (Array.isArray(value)) return value.map((item) => renderAll(item, variables));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renderAll(item, variables)]));
}

function readSource(source: string, variables: Variables): string {
  const { cwd, pid, scratch, conversation } = variables;
  const indexed = /^(result|rows|note|error):(\d+|last)$/.exec(source);
  if (indexed !== null) {
    const { results } = conversation;
    const result = indexed[2] === "last" ? results.at(-1) : results[Number(indexed[2]) - 1];
    return result === undefined ? "" : readResult(indexed[1] ?? "", result);
  }
  switch (source) {
    case "cwd":
      return cwd;
    case "pid":
      return String(pid);
    case "scratch":
      return scratch;
    case "model":
      return conversation.model;
    case "user":
      return conversation.user;
    case "errors":
      return conversation.results.flatMap((result) => readResult("error", result) || []).join("\n");
    case "result":
      return conversation.latest.map(({ content }) => content).join("\n");
    default:
      throw new RangeError(`unknown variable "${source}"`);
  }
}

function readResult(what: string, { content, isError }: CallResult): string {
  if (what === "result") return content;
  if (what === "error") return isError ? (linesOf(content)[0] ?? "") : "";
  if (isError) return "";
  const isNote = (line: string): boolean => /^\[.*\]$/.test(line);
  const lines = linesOf(content).filter((line) => isNote(line) === (what === "note"));
  return lines.filter((line) => line !== "No matches found").join("\n");
}

type LineFilter = (lines: string[], n: number) => string[];

const lineFilters: Readonly<Record<string, LineFilter>> = {
  count: (lines) => [String(lines.length)],
  first: (lines, n) => lines.slice(0, n),
  top: (lines, n) => lines.toSorted((a, b) => numberOf(b) - numberOf(a)).slice(0, n),
  sum: (lines) => [String(lines.reduce((sum, line) => sum + numberOf(line), 0))],
  names: (lines) => lines.map((line) => line.replace(/:[^:]*$/, "")),
  list: (lines) => lines.map((line) => `- ${line}`),
  quote: (lines) => lines.map((line) => `    ${line}`),
};

function applyFilter(text: string, filter: string): string {
  const [, name = "", given = ""] = /^(\w+)\s*(.*)$/s.exec(filter) ?? [];
  const argument = given.replace(/^"(.*)"$/s, "$1");
  if (name === "or") return text.trim() === "" ? argument : text;
  if (name === "then") return text.trim() === "" ? "" : argument;
  const n = Number(argument);
  if (name === "clip") return text.length > n ? `${text.slice(0, n)}…` : text;
  const apply = Object.hasOwn(lineFilters, name) ? lineFilters[name] : undefined;
  if (apply === undefined) throw new RangeError(`unknown filter "${filter}"`);
  return apply(linesOf(text, name === "quote" || name === "first"), n).join("\n");
}

function linesOf(text: string, keepBlank = false): string[] {
  if (text === "") return [];
  const lines = text.replace(/\n$/, "").split("\n");
  return keepBlank ? lines : lines.map((line) => line.trimEnd()).filter((line) => line !== "");
}

/** The number after the last colon: 120 for `src/a.ts:120`; 0 if there is no number. */
function numberOf(line: string): number {
  const value = Number(/:(\d+)\s*$/.exec(line)?.[1]);
  return Number.isFinite(value) ? value : 0;
}
