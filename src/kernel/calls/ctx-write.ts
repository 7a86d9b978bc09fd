/** CtxWrite(cid, offset, size): one JSON message; offset 0 appends, 1 … N replaces. The journal keeps what was replaced. */
import type { CtxId } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { redactedBytes } from "../redact/model-bound.ts";
import { journalMessage, requireOwn } from "./own-context.ts";

export const ctxWrite: Call<{ cid: CtxId; offset: number; data: Uint8Array }, void> = {
  name: "CtxWrite",
  args: ({ cid, offset, data }) => ({ cid, offset, size: data.byteLength }),
  run(core, self, { cid, offset, data: said }) {
    requireOwn(core, self, cid, "CtxWrite");
    const data = redactedBytes(core, self, said);
    journalMessage(core, self, cid, core.contexts.write(cid, offset, data), offset);
    // what it was shown of a file may have gone with the message
    if (offset > 0 && cid === self.ctxId) self.seen.epoch++;
  },
};
