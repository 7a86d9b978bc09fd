/**
 * Questions of an agent to the user on a terminal: a number, or ↑ ↓ and Enter, chooses an option, other text is the answer as
 * typed, Esc dismisses all. In a multiple-choice question numbers, or ↑ ↓ and space, toggle options and Enter confirms.
 */
import type { AskReply, QuestionAnswer, QuestionItem } from "../../abi/ask.ts";
import { plainLine } from "../screen/text/plain-text.ts";
import { brokenAtBlanks } from "../screen/text/width.ts";
import type { Phrases } from "../screen/words/en.ts";
import { CLEAR } from "../terminal/line-entry.ts";

export interface QuestionTerminal {
  readonly words: Phrases["ask"];
  write(text: string): Promise<void>;
  /** The keys that arrived at once; undefined: the question was closed. */
  keys(): Promise<string | undefined>;
  /** Reads one line that starts with `initial`; undefined: the user gave up, or the question was closed. */
  line(prompt: string, initial: string): Promise<string | undefined>;
  readonly isClosed: boolean;
  /** A question is on the screen: what is typed before it can have been read is none of its answer. */
  readonly settled?: () => Promise<void>;
  /** It is answered. */
  readonly answered?: ((question: string, answer: string) => void) | undefined;
  /** Of a terminal that would break a long line inside of a word. */
  readonly columns?: number | undefined;
}

const ESCAPE = "\x1b";
const ENTER: ReadonlySet<string> = new Set(["\r", "\n"]);
/** What stands between numbers. */
const BETWEEN = /^[\s,;]+$/;
const STEPS: Readonly<Record<string, number>> = { "\x1b[A": -1, "\x1bOA": -1, "\x1b[B": 1, "\x1bOB": 1 };
const END: ReadonlySet<string> = new Set([ESCAPE, "\x04"]);

/** undefined: it was answered elsewhere, or is void. */
export async function hearAnswers(
  pid: number,
  questions: readonly QuestionItem[],
  terminal: QuestionTerminal,
): Promise<AskReply | undefined> {
  const answers: QuestionAnswer[] = [];
  for (const [i, question] of questions.entries()) {
    const count = questions.length === 1 ? "" : terminal.words.ofMany(i + 1, questions.length);
    const { columns = Number.POSITIVE_INFINITY } = terminal;
    const lines = questionLines(pid, question, count).map((line) => brokenAtBlanks(line, columns));
    await terminal.write(`${lines.join("\n")}\n`);
    const answer = await hearOne(question, terminal);
    if (answer === "closed") return undefined;
    if (answer === "dismissed") return { answer: "no" };
    answers.push(answer);
    terminal.answered?.(
      `${question.header}: ${question.question}`,
      [...answer.chosen, ...(answer.text === "" ? [] : [answer.text])].join(", "),
    );
  }
  return { answer: "yes", answers };
}

function questionLines(pid: number, question: QuestionItem, count = ""): string[] {
  const options = question.options.map(({ label, description }, i) => {
    const more = description === "" ? "" : `  ${plainLine(description)}`;
    return `  ${i + 1}. ${plainLine(label)}${more}`;
  });
  return [
    `[agent/${pid}] ${plainLine(question.header)}: ${plainLine(question.question)}${count}`,
    ...options,
  ];
}

async function hearOne(
  question: QuestionItem,
  terminal: QuestionTerminal,
): Promise<QuestionAnswer | "dismissed" | "closed"> {
  const marked = new Set<string>();
  const options = question.options.map(({ label }) => label);
  /** Where the arrows are; −1: they were not used. */
  let at = -1;
  /** One line says where the arrows are and what is marked, and takes the place of the one before. */
  let below = "\n";
  const show = async (): Promise<void> => {
    const place = at < 0 ? [] : [`▸ ${at + 1}. ${plainLine(options[at] ?? "")}`];
    const isMarking = question.multi_select === true && (marked.size > 0 || at < 0);
    const chosen = isMarking ? [markedLine(marked, terminal.words)] : [];
    await terminal.write(`${below}  ${[...place, ...chosen].join(" · ")} `);
    below = CLEAR;
  };
  await terminal.write(hintOf(question, terminal.words));
  await terminal.settled?.();
  for (;;) {
    const keys = await terminal.keys();
    if (keys === undefined) return "closed";
    if (END.has(keys)) {
      await terminal.write(`${terminal.words.dismissed}\n`);
      return "dismissed";
    }
    const step = STEPS[keys];
    if (step !== undefined) {
      at = (Math.max(at, step < 0 ? 0 : -1) + step + options.length) % options.length;
      await show();
      continue;
    }
    const pointed = options.slice(at, at + 1).filter(() => at >= 0);
    if (ENTER.has(keys)) {
      const chosen = marked.size === 0 ? pointed : [...marked];
      if (chosen.length === 0) continue;
      await terminal.write("\n");
      return { chosen, text: "" };
    }
    const named = keys === " " ? pointed : numbered(keys, question);
    if (named.length > 0 && !question.multi_select) {
      await terminal.write(keys === " " ? "\n" : `${named.map(plainLine).join()}\n`);
      return { chosen: named, text: "" };
    }
    if (named.length > 0 || BETWEEN.test(keys) || keys.startsWith(ESCAPE)) {
      for (const label of named) if (!marked.delete(label)) marked.add(label);
      if (named.length > 0) await show();
      if (marked.size > 0 && /[\r\n]$/.test(keys)) return { chosen: [...marked], text: "" };
      continue;
    }
    const words = await hearWords(keys, terminal);
    if (words === "closed") return "closed";
    if (words !== "") return { chosen: [...marked], text: words };
    at = -1;
    below = "\n";
    await terminal.write(hintOf(question, terminal.words));
  }
}

function markedLine(marked: ReadonlySet<string>, { none }: Phrases["ask"]): string {
  return marked.size === 0 ? none : [...marked].map(plainLine).join(", ");
}

/** Options by their numbers: one, or where several may be chosen `1,3`, which a slow line brings at once. */
function numbered(keys: string, { options, multi_select: isMulti }: QuestionItem): readonly string[] {
  const numbers = isMulti ? keys.split(/[\s,;]*/) : [keys.trim()];
  const labels = numbers.filter((each) => each !== "").map((each) => options[Number(each) - 1]?.label);
  return labels.every((label) => label !== undefined) ? labels : [];
}

function hintOf({ options, multi_select: isMulti }: QuestionItem, words: Phrases["ask"]): string {
  const numbers = `1-${options.length}`;
  return isMulti ? words.manyHint(numbers) : words.oneHint(numbers);
}

/** "": the user gave up. Control keys do not begin a line. */
async function hearWords(keys: string, terminal: QuestionTerminal): Promise<string> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys of a terminal
  if (/^[\x00-\x1f\x7f]/.test(keys)) return "";
  await terminal.write("\n");
  const [typed = "", ...more] = keys.split(/[\r\n]/);
  if (more.length > 0) {
    await terminal.write(`  > ${plainLine(typed)}\n`);
    return typed.trim();
  }
  const line = await terminal.line("  > ", typed);
  if (line === undefined) return terminal.isClosed ? "closed" : "";
  return line.trim();
}
