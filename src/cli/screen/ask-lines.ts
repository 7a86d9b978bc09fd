/** A question of the permission gate as shown to the user, above the line with the keys. Pure. */
import type { AskRule } from "../../abi/ask.ts";
import type { RuleDestination } from "../../abi/rules.ts";
import type { Said, Sentence } from "../../abi/sentence.ts";
import type { AskEvent } from "../../abi/wire-events.ts";
import { plainLine, plainLines } from "./text/plain-text.ts";
import { en, type Phrases } from "./words/en.ts";

type AskWords = Phrases["ask"];

/** The parts of a question that are shown. */
type ShownQuestion = Omit<AskEvent, "event" | "ask_id" | "options">;

/** Longer texts are cut in the middle until the user asks for all. */
const MOST_LINES = 32;
const LEAST_LINES = 8;
/** Of a screen: what else a question shows, and what the user sees above it. */
const OTHER_ROWS = 14;
const MAX_LINE_CHARS = 400;

interface AskBlock {
  readonly lines: readonly string[];
  readonly isCut: boolean;
}

/** How many lines of a text are shown at first on a screen of so many rows. */
export function excerptLines(rows = Number.POSITIVE_INFINITY): number {
  return Math.min(MOST_LINES, Math.max(LEAST_LINES, rows - OTHER_ROWS));
}

/** `most`: the lines of its text that are shown; Infinity: all, and whole. */
export function askBlock(question: ShownQuestion, most: number, words: AskWords = en.ask): AskBlock {
  const { detail = "", path, reason = "", sandbox, labels = [], warnings = [] } = question;
  const {
    reason: reasonSaid = [reason],
    sandbox: sandboxSaid = sandbox,
    warnings: warned = warnings,
  } = question.facts ?? {};
  const worded = (said: readonly Said[], text: string) => wordsOf(said, text, words);
  const written = detail === "" ? [] : plainLines(detail).replace(/\n+$/, "").split("\n");
  const inDetail = new Map(
    [[reasonSaid, reason] as const, ...warned.map((said, i) => [[said], warnings[i] ?? ""] as const)].map(
      ([said, line]) => [`! ${plainLine(line)}`, `! ${worded(said, line)}`],
    ),
  );
  const text = written.map((line) => inDetail.get(line) ?? line);
  const shown = most === Number.POSITIVE_INFINITY ? text : cutLines(text, most, words);
  const told = (part: string) => detail.includes(part);
  const about = [
    ...(path === undefined ? [] : [words.by(plainLine(path))]),
    ...partLines(question, words),
    ...(reason === "" || told(reason) ? [] : [words.why(worded(reasonSaid, reason))]),
    ...(sandboxSaid === undefined ? [] : [words.sandbox(worded([sandboxSaid], sandbox ?? ""))]),
    ...labels.map((label) => `! ${words.hasRead(plainLine(label))}`),
    ...warnings
      .map((text, i) => ({ text, said: warned[i] ?? text }))
      .filter(({ text }) => !told(text))
      .map(({ text, said }) => `! ${worded([said], text)}`),
    ...(question.arguments !== undefined && warned.some(isPart) ? [words.editShows] : []),
  ];
  const isCut = shown.join("\n") !== text.join("\n");
  return { lines: [...shown, ...about].map((line) => `  ${line}`), isCut };
}

/** The daemon sent no more of the text. */
function isPart(said: Said): boolean {
  return typeof said !== "string" && said.kind === "shown_in_part";
}

/** In the language of the user; a newer daemon may have sentences of its own, whose text is shown as it came. */
function wordsOf(said: readonly Said[], text: string, words: AskWords): string {
  const parts: readonly (string | undefined)[] = said.map((each) => words.said(plainSaid(each)));
  return parts.includes(undefined) ? plainLine(text) : parts.join("; ");
}

/** What a sentence quotes, made safe before it is worded. */
function plainSaid(said: Said): Said {
  if (typeof said === "string") return plainLine(said);
  const safe = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(safe) : typeof value === "string" ? plainLine(value) : value;
  return Object.fromEntries(Object.entries(said).map(([key, value]) => [key, safe(value)])) as Sentence;
}

/** The line with the question, without its keys. A long line is cut in the middle. */
export function askedLine({ pid, text, amount }: ShownQuestion, words: AskWords = en.ask): string {
  const what = cutLine(plainLine(text), words);
  return `[agent/${pid}] ${amount === undefined ? words.allow(what) : words.question(what)}`;
}

/**
 * The parts of a call, each with its own decision, so that the user sees everything that runs. A single part that
 * equals the text is left out: its reason is shown below.
 */
function partLines({ parts = [], text, reason = "" }: ShownQuestion, words: AskWords): readonly string[] {
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0 && text.endsWith(`: ${only.text}`) && reason !== "")
    return [];
  return parts.map(
    ({ text, behavior, why, fact }, i) =>
      `${i + 1}. ${cutLine(plainLine(text), words)}  (${words.parts[behavior]}: ${wordsOf([fact ?? why], why, words)})`,
  );
}

/** The text may be an excerpt itself: the lines that it already lacks are counted too. */
function cutLines(lines: readonly string[], most: number, words: AskWords): readonly string[] {
  const short = lines.map((line) => cutLine(line, words));
  if (lines.length <= most + 1) return short;
  const tail = Math.floor(most / 4);
  const middle = lines.slice(most - tail, -tail);
  const left = middle.reduce((sum, line) => sum + linesOf(line), 0);
  return [...short.slice(0, most - tail), words.linesMore(left), ...short.slice(-tail)];
}

function linesOf(line: string): number {
  return Number(/^… (\d{1,9}) lines more …$/.exec(line)?.[1] ?? 1);
}

function cutLine(line: string, words: AskWords): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  const [head, tail] = [line.slice(0, MAX_LINE_CHARS * 0.7), line.slice(-MAX_LINE_CHARS * 0.3)];
  const more = words.charactersMore(line.length - MAX_LINE_CHARS);
  return `${head.toWellFormed()} ${more} ${tail.toWellFormed()}`;
}

/** Rule, scope and destination, shown before anything is granted. */
export function alwaysLines({ rule, destinations }: AskRule, words: AskWords): readonly string[] {
  const places = destinations.map((place) => words.places[place]);
  return [words.alwaysAllow(plainLine(rule)), words.keepFor(places.join(" / "))];
}

export function destinationOf(key: string, { destinations }: AskRule): RuleDestination | undefined {
  return destinations.find((place) => place.startsWith(key) && key.length === 1);
}
