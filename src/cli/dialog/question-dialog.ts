/**
 * Questions of an agent to the user on a terminal: a number chooses an option, other text is the answer as typed, Esc
 * dismisses all. In a multiple-choice question numbers toggle options and Enter confirms.
 */
import type { AskReply, QuestionAnswer, QuestionItem } from "../../abi/ask.ts";
import { plainLine } from "../screen/text/plain-text.ts";
import type { Phrases } from "../screen/words/en.ts";

export interface QuestionTerminal {
  readonly words: Phrases["ask"];
  write(text: string): Promise<void>;
  /** The keys that arrived at once; undefined: the question was closed. */
  keys(): Promise<string | undefined>;
  /** Reads one line that starts with `initial`; undefined: the user gave up, or the question was closed. */
  line(prompt: string, initial: string): Promise<string | undefined>;
  readonly isClosed: boolean;
}

const ESCAPE = "\x1b";
const ENTER: ReadonlySet<string> = new Set(["\r", "\n"]);
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
    await terminal.write(`${questionLines(pid, question, count).join("\n")}\n`);
    const answer = await hearOne(question, terminal);
    if (answer === "closed") return undefined;
    if (answer === "dismissed") return { answer: "no" };
    answers.push(answer);
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
  await terminal.write(hintOf(question, terminal.words));
  for (;;) {
    const keys = await terminal.keys();
    if (keys === undefined) return "closed";
    if (END.has(keys)) {
      await terminal.write(`${terminal.words.dismissed}\n`);
      return "dismissed";
    }
    const label = question.options[Number(keys.trim()) - 1]?.label;
    if (label !== undefined && !question.multi_select) {
      await terminal.write(`${plainLine(label)}\n`);
      return { chosen: [label], text: "" };
    }
    if (label !== undefined) {
      if (!marked.delete(label)) marked.add(label);
      await terminal.write(
        `\n  ${marked.size === 0 ? terminal.words.none : [...marked].map(plainLine).join(", ")} `,
      );
      continue;
    }
    if (ENTER.has(keys)) {
      if (marked.size === 0) continue;
      await terminal.write("\n");
      return { chosen: [...marked], text: "" };
    }
    const words = await hearWords(keys, terminal);
    if (words === "closed") return "closed";
    if (words !== "") return { chosen: [...marked], text: words };
    await terminal.write(hintOf(question, terminal.words));
  }
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
