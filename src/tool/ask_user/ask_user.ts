/** ask_user: asks the user questions with options to choose from; free text is always possible. */
import * as z from "zod";
import type { QuestionItem, QuestionOutcome } from "../../abi/ask.ts";
import { shortened } from "../../abi/call-note.ts";
import { askDevice } from "../device-json.ts";
import { failure } from "../failure.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./ask_user.md";

const Option = z.strictObject({ label: z.string().min(1).max(100), description: z.string().max(1000) });
const Question = z.strictObject({
  question: z.string().min(1).max(2000),
  header: z.string().min(1).max(12),
  options: z.array(Option).min(2).max(4),
  multi_select: z.boolean().optional(),
});
const Args = z.object({ questions: z.array(Question).min(1).max(4) });
type Args = z.output<typeof Args>;

const Meta = z.strictObject({
  answers: z.array(z.strictObject({ question: z.string(), chosen: z.array(z.string()), text: z.string() })),
});

export const askUser = defineTool({
  name: "ask_user",
  hint: "question to the user",
  text,
  args: Args,
  meta: Meta,
  listed: "core",
  readOnly: true,
  effectClass: "repeat",
  destructive: () => false,
  effects: ({ questions }) => [{ kind: "person", question: words(questions) }],
  view: ({ questions }) => ({ operation: `ask: ${words(questions)}`, params: {} }),
  activity: () => "Asking",
  about: ({ questions }) => words(questions),
  run,
});

function words(questions: Args["questions"]): string {
  return questions.map(({ question }) => question).join(" / ");
}

async function run({ questions }: Args, context: RunContext): Promise<Outcome> {
  for (const { options, question } of questions)
    if (new Set(options.map(({ label }) => label)).size < options.length)
      throw failure("INVALID", `ask_user: two options of "${question}" have one label`);
  const items: QuestionItem[] = questions.map(({ multi_select = false, ...item }) => ({
    ...item,
    multi_select,
  }));
  const outcome = await askDevice<QuestionOutcome>(context, "/dev/tty", items);
  if (outcome.kind === "nobody")
    throw failure("UNAVAILABLE", outcome.reason, "Decide by yourself, and say what you assumed.");
  if (outcome.kind === "dismissed")
    throw failure(
      "CANCELLED",
      "the person dismissed the question",
      "Go on without an answer, or stop and say what is open.",
    );
  const answers = outcome.answers.map(({ chosen, text }, i) => ({
    question: items[i]?.question ?? "",
    chosen: [...chosen],
    text,
  }));
  const said = answers.map(({ question, chosen, text: own }) => {
    const all = [...chosen, ...(own.trim() === "" ? [] : [`(in their own words) ${own}`])];
    return `${question}\n→ ${all.join(", ")}`;
  });
  const now = answers.map(({ chosen, text: own }) => [...chosen, own.trim()].filter(Boolean).join(", "));
  return { text: said.join("\n"), meta: { answers }, facts: { now: shortened(now.join(" / ")) } };
}
