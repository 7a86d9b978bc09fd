/** Images and documents that the model has refused: they leave the view, so that the next message can be answered. */
import type { ClearedResult } from "../abi/context.ts";
import { messageOf } from "../abi/errors.ts";
import type { CtxId } from "../abi/ids.ts";
import type { Sys } from "../abi/sys.ts";
import { messageTokens } from "../lib/tokens/message.ts";

/** Characters of the refusal that the model is told. */
const MAX_WORDS = 200;

/** The text of the results stays. Nothing is lost: the journal keeps all. */
export async function dropMedia(sys: Sys, ctxId: CtxId, why: unknown): Promise<void> {
  const { messages } = await sys.buildPrompt(ctxId);
  const { head, view, numbers } = await sys.ctxView(ctxId);
  const { keep, tailFrom } = view;
  const clears = new Map<number, ClearedResult>(view.clears.map((each) => [each.n, each]));
  let [before, after] = [0, 0];
  for (const [i, message] of messages.entries()) {
    const { media = [], ...words } = message;
    before += messageTokens(message);
    after += messageTokens(words);
    const n = numbers[i];
    if (media.length > 0 && n !== undefined) clears.set(n, { n, keep: message.content.length });
  }
  if (before === after) return;
  const boundary = { layer: "micro", trigger: "reactive", before, after } as const;
  const all = [...clears.values()].sort((a, b) => a.n - b.n);
  await sys.ctxMove(ctxId, { from: head, keep, tailFrom, clears: all, boundary });
  // the server's words cannot end the note
  const words = messageOf(why).replace(/[<>]/g, "").slice(0, MAX_WORDS);
  await sys.appendMessage(ctxId, "user", `<crux-note>[image removed: ${words}]</crux-note>`);
}
