/** CtxFree(cid): the messages leave memory; the journal keeps them. */
import { ContextError } from "../../abi/errors.ts";
import type { CtxId } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { requireOwn } from "./own-context.ts";

export const ctxFree: Call<{ cid: CtxId }, void> = {
  name: "CtxFree",
  args: ({ cid }) => ({ cid }),
  run(core, self, { cid }) {
    if (cid === self.ctxId) {
      const message = "a process keeps its own context to its end";
      throw new ContextError({ op: "CtxFree", cid, code: "PERMISSION", message });
    }
    requireOwn(core, self, cid, "CtxFree");
    core.contexts.free(cid);
    self.contexts.delete(cid);
  },
};
