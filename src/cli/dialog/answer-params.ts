import type { AskReply } from "../../abi/ask.ts";
import type { Params } from "../../abi/methods/methods.ts";

/** The answer of the user as a request. */
export function answerParams(askId: string, reply: AskReply): Params<"ask.answer"> {
  const { answer, words, rule, destination, input, answers } = reply;
  return {
    ask_id: askId,
    answer,
    ...(words === undefined ? {} : { words }),
    ...(rule === undefined ? {} : { rule }),
    ...(destination === undefined ? {} : { destination }),
    ...(input === undefined ? {} : { input: { ...input } }),
    ...(answers === undefined
      ? {}
      : { answers: answers.map(({ chosen, text }) => ({ chosen: [...chosen], text })) }),
  };
}
