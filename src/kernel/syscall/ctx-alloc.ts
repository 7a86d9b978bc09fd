/** CtxAlloc(size): an empty context for `size` messages. It is freed with its process. */
import type { CtxId } from "../../abi/ids.ts";
import type { Call } from "./call.ts";

export const ctxAlloc: Call<{ size: number }, CtxId> = {
  name: "CtxAlloc",
  args: ({ size }) => ({ size }),
  result: (cid) => cid,
  run(core, self, { size }) {
    const cid = core.contexts.alloc(size);
    self.contexts.add(cid);
    return cid;
  },
};
