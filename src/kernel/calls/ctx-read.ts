/** CtxRead(cid, length, offset): messages as JSON; 0, 0 is all. */
import type { CtxId } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { ownerOf, requireReadable } from "./own-context.ts";

export const ctxRead: Call<{ cid: CtxId; offset: number; length: number }, Uint8Array> = {
  name: "CtxRead",
  args: ({ cid, length, offset }) => ({ cid, length, offset }),
  result: (bytes) => bytes.byteLength,
  async run(core, self, { cid, offset, length }) {
    requireReadable(core, self, cid, "CtxRead");
    await ownerOf(core, self, cid)?.recall?.();
    return core.contexts.read(cid, offset, length);
  },
};
