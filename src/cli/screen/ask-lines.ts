/** A question of the permission gate as shown to the user, above the line with the keys. Pure. */
import type { AskRule } from "../../abi/ask.ts";
import type { RuleDestination } from "../../abi/rules.ts";
import type { AskEvent } from "../../abi/wire-events.ts";
import { plainLine, plainLines } from "./text/plain-text.ts";

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

export function askBlock(question: ShownQuestion, isWhole: boolean): AskBlock {
  const { detail = "", path, reason = "", sandbox, labels = [], warnings = [] } = question;
  const text = detail === "" ? [] : plainLines(detail).replace(/\n+$/, "").split("\n");
  const shown = isWhole ? text : cutLines(text);
  const told = (words: string) => detail.includes(words);
  const about = [
    ...(path === undefined ? [] : [`by ${plainLine(path)}`]),
    ...partLines(question),
    ...(reason === "" || told(reason) ? [] : [`why: ${plainLine(reason)}`]),
    ...(sandbox === undefined ? [] : [`sandbox: ${plainLine(sandbox)}`]),
    ...labels.map((label) => `! it has read ${plainLine(label)}`),
    ...warnings.filter((warning) => !told(warning)).map((warning) => `! ${plainLine(warning)}`),
  ];
  const isCut = !isWhole && shown.join("\n") !== text.join("\n");
  return { lines: [...shown, ...about].map((line) => `  ${line}`), isCut };
}

/** The line with the question, without its keys. A long line is cut in the middle. */
export function askedLine({ pid, text, amount }: ShownQuestion): string {
  return `[agent/${pid}] ${amount === undefined ? "allow " : ""}${cutLine(plainLine(text))}?`;
}

/**
 * The parts of a call, each with its own decision, so that the user sees everything that runs. A single part that
 * equals the text is left out: its reason is shown below.
 */
function partLines({ parts = [], text, reason = "" }: ShownQuestion): readonly string[] {
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0 && text.endsWith(`: ${only.text}`) && reason !== "")
    return [];
  return parts.map(({ text, behavior, why }, i) => {
    const mark = { allow: "allowed", ask: "asks", deny: "denied" }[behavior];
    return `${i + 1}. ${cutLine(plainLine(text))}  (${mark}: ${plainLine(why)})`;
  });
}

/** The text may be an excerpt itself: the lines that it already lacks are counted too. */
function cutLines(lines: readonly string[]): readonly string[] {
  const short = lines.map(cutLine);
  const middle = lines.slice(HEAD_LINES, -TAIL_LINES);
  if (lines.length <= HEAD_LINES + TAIL_LINES + 1) return short;
  const left = middle.reduce((sum, line) => sum + linesOf(line), 0);
  return [...short.slice(0, HEAD_LINES), `… ${left} lines more …`, ...short.slice(-TAIL_LINES)];
}

function linesOf(line: string): number {
  return Number(/^… (\d{1,9}) lines more …$/.exec(line)?.[1] ?? 1);
}

function cutLine(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  const [head, tail] = [line.slice(0, MAX_LINE_CHARS * 0.7), line.slice(-MAX_LINE_CHARS * 0.3)];
  return `${head.toWellFormed()} … ${line.length - MAX_LINE_CHARS} characters more … ${tail.toWellFormed()}`;
}

const PLACES: Readonly<Record<RuleDestination, string>> = {
  session: "[s]ession",
  localSettings: "[l]ocal settings of the project",
  projectSettings: "[p]roject settings",
  userSettings: "[u]ser settings",
};

/** Rule, scope and destination, shown before anything is granted. */
export function alwaysLines(rule: AskRule): readonly string[] {
  return [
    `  always allow ${plainLine(rule.rule)}`,
    `  keep it for: ${rule.destinations.map((place) => PLACES[place]).join(" / ")}; [e]dit the rule; Esc: back `,
  ];
}

export function destinationOf(key: string, { destinations }: AskRule): RuleDestination | undefined {
  return destinations.find((place) => place.startsWith(key) && key.length === 1);
}
