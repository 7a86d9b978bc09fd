import type { Handler } from "../handler.ts";
import { grantedBy } from "../principal.ts";

export const askAnswer: Handler<"ask.answer"> = async (params, { kernel, principal, client }) => {
  const { ask_id, answer, words = "", rule, destination, input, answers } = params;
  const note = await kernel.answer(ask_id, answer, words, {
    by: grantedBy(principal, client),
    ...(rule === undefined ? {} : { rule }),
    ...(destination === undefined ? {} : { destination }),
    ...(input === undefined ? {} : { input }),
    ...(answers === undefined ? {} : { answers }),
  });
  return { payload: note === "" ? undefined : { note } };
};
