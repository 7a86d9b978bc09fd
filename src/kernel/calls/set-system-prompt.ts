/** SetSystemPrompt(cid, size). */
import type { CtxId } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { redactedText } from "../redact/model-bound.ts";
import { journalSystemPrompt, requireOwn } from "./own-context.ts";

export const setSystemPrompt: Call<{ cid: CtxId; text: string }, void> = {
  name: "SetSystemPrompt",
  quiet: true,
  args: ({ cid, text }) => ({ cid, size: Buffer.byteLength(text) }),
  run(core, self, { cid, text: said }) {
    requireOwn(core, self, cid, "SetSystemPrompt");
    const text = redactedText(core, self, said);
    core.contexts.setSystemPrompt(cid, text);
    journalSystemPrompt(core, self, cid, text);
  },
};
