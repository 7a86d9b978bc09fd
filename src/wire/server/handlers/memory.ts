import { Fault } from "../../../abi/errors.ts";
import type { Handler } from "../handler.ts";

export const memoryList: Handler<"memory.list"> = async ({ cwd }, { deps }) => {
  if (deps.notes === undefined)
    throw new Fault({ code: "UNAVAILABLE", message: "agents have no memory here" });
  return { payload: await deps.notes(cwd) };
};
