/** AppendMessage(cid, role, size): the loop's form of CtxWrite; it grows the context. */
import type { CtxId } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { Call } from "../gate/call.ts";
import { redactedMessage } from "../redact/model-bound.ts";
import { journalMessage, requireOwn } from "./own-context.ts";

export const appendMessage: Call<{ cid: CtxId; message: ContextMessage }, void> = {
  name: "AppendMessage",
  quiet: true,
  args: ({ cid, message }) => ({ cid, role: message.role, size: Buffer.byteLength(message.content) }),
  run(core, self, { cid, message: said }) {
    requireOwn(core, self, cid, "AppendMessage");
    const message = redactedMessage(core, self, said);
    core.contexts.append(cid, message);
    journalMessage(core, self, cid, message, 0);
  },
};
