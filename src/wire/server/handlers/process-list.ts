import type { Handler } from "../handler.ts";
import { toWireRow } from "../proc-wire.ts";

export const processList: Handler<"process.list"> = async (_params, { kernel }) => ({
  payload: { processes: (await kernel.init.listProcs()).map(toWireRow) },
});
