import type { Handler } from "../handler.ts";

export const askAnswer: Handler<"ask.answer"> = async ({ ask_id, answer, words }, { kernel }) => {
  await (words === undefined ? kernel.answer(ask_id, answer) : kernel.answer(ask_id, answer, words));
  return { payload: undefined };
};
