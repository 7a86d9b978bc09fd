import { asPid } from "../../../../abi/ids.ts";
import type { Handler } from "../../handler.ts";
import { grantedBy } from "../../principal.ts";

export const processNote: Handler<"process.note"> = async ({ pid, text }, { kernel, principal, client }) => {
  const change = text === undefined ? undefined : { text, by: grantedBy(principal, client) };
  return { payload: { pid, note: await kernel.pin(asPid(pid), change) } };
};
