/** A question of the permission gate as shown to the user, above the line with the keys. Pure. */
import type { AskRule } from "../../abi/ask.ts";
import type { RuleDestination } from "../../abi/rules.ts";
import type { AskEvent } from "../../abi/wire-events.ts";
import { plainLine, plainLines } from "./text/plain-text.ts";
import { en, type Phrases } from "./words/en.ts";

type AskWords = Phrases["ask"];

/** The parts of a question that are shown. */
type ShownQuestion = Omit<AskEvent, "event" | "ask_id" | "options">;

/** Longer texts are cut in the middle until the user asks for all. */
const HEAD_LINES = 24;
const TAIL_LINES = 8;
const MAX_LINE_CHARS = 400;

interface AskBlock {
  readonly lines: readonly string[];
  readonly isCut: boolean;
}

export function askBlock(question: ShownQuestion, isWhole: boolean, words: AskWords = en.ask): AskBlock {
  const { detail = "", path, reason = "", sandbox, labels = [], warnings = [] } = question;
  const text = detail === "" ? [] : plainLines(detail).replace(/\n+$/, "").split("\n");
  const shown = isWhole ? text : cutLines(text, words);
  const told = (part: string) => detail.includes(part);
  const about = [
    ...(path === undefined ? [] : [words.by(plainLine(path))]),
    ...partLines(question, words),
    ...(reason === "" || told(reason) ? [] : [words.why(words.told(plainLine(reason)))]),
    ...(sandbox === undefined ? [] : [words.sandbox(words.told(plainLine(sandbox)))]),
    ...labels.map((label) => `! ${words.hasRead(plainLine(label))}`),
    ...warnings.filter((warning) => !told(warning)).map((warning) => `! ${words.told(plainLine(warning))}`),
  ];
  const isCut = !isWhole && shown.join("\n") !== text.join("\n");
  return { lines: [...shown, ...about].map((line) => `  ${line}`), isCut };
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
    ({ text, behavior, why }, i) =>
      `${i + 1}. ${cutLine(plainLine(text), words)}  (${words.parts[behavior]}: ${words.told(plainLine(why))})`,
  );
}

/** The text may be an excerpt itself: the lines that it already lacks are counted too. */
function cutLines(lines: readonly string[], words: AskWords): readonly string[] {
  const short = lines.map((line) => cutLine(line, words));
  const middle = lines.slice(HEAD_LINES, -TAIL_LINES);
  if (lines.length <= HEAD_LINES + TAIL_LINES + 1) return short;
  const left = middle.reduce((sum, line) => sum + linesOf(line), 0);
  return [...short.slice(0, HEAD_LINES), words.linesMore(left), ...short.slice(-TAIL_LINES)];
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
