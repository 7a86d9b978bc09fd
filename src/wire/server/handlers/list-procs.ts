import type { Handler } from "../handler.ts";
import { toWireProc } from "../proc-wire.ts";

export const listProcs: Handler<"list_procs"> = async (_params, { kernel }) => ({
  payload: { processes: (await kernel.init.listProcs()).map(toWireProc) },
});
