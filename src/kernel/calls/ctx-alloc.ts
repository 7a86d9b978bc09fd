/** CtxAlloc(size): an empty context for `size` messages. It is freed with its process. */
import { SyscallError } from "../../abi/errors.ts";
import type { CtxId } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { LIMITS } from "../limits.ts";

export const ctxAlloc: Call<{ size: number }, CtxId> = {
  name: "CtxAlloc",
  args: ({ size }) => ({ size }),
  result: (cid) => cid,
  run(core, self, { size }) {
    if (self.contexts.size >= LIMITS.contexts) {
      const message = `too many contexts: ${LIMITS.contexts}`;
      throw new SyscallError({ syscall: "CtxAlloc", pid: self.pid, code: "UNAVAILABLE", message });
    }
    const cid = core.contexts.alloc(size);
    self.contexts.add(cid);
    return cid;
  },
};
