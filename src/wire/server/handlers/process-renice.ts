import { asPid } from "../../../abi/ids.ts";
import type { Handler } from "../handler.ts";
import { grantedBy } from "../principal.ts";

export const processRenice: Handler<"process.renice"> = async (
  { pid, weight },
  { kernel, principal, client },
) => {
  await kernel.renice(asPid(pid), { weight, by: grantedBy(principal, client) });
  return { payload: { pid, weight } };
};
