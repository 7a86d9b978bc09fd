/** BuildPrompt(cid): system prompt and messages, a snapshot. */
import type { CtxId } from "../../abi/ids.ts";
import type { Prompt } from "../../abi/sys.ts";
import type { Call } from "../gate/call.ts";
import { requireReadable } from "./own-context.ts";

export const buildPrompt: Call<{ cid: CtxId }, Prompt> = {
  name: "BuildPrompt",
  quiet: true,
  args: ({ cid }) => ({ cid }),
  result: (prompt) => prompt.messages.length,
  run(core, self, { cid }) {
    requireReadable(core, self, cid, "BuildPrompt");
    return core.contexts.prompt(cid);
  },
};
