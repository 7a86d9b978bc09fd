import { asPid } from "../../../abi/ids.ts";
import type { Handler } from "../handler.ts";

export const startChild: Handler<"supervisor.start_child"> = async ({ pid, child }, { kernel }) => {
  await kernel.supervisor(asPid(pid)).startChild(child);
  return { payload: undefined };
};

export const stopChild: Handler<"supervisor.stop_child"> = async ({ pid, child }, { kernel }) => {
  await kernel.supervisor(asPid(pid)).stopChild(child);
  return { payload: undefined };
};

export const restartChild: Handler<"supervisor.restart_child"> = async ({ pid, child }, { kernel }) => {
  await kernel.supervisor(asPid(pid)).restartChild(child);
  return { payload: undefined };
};
