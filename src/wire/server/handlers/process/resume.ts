import { asPid } from "../../../../abi/ids.ts";
import type { Handler } from "../../handler.ts";

export const processResume: Handler<"process.resume"> = async ({ pid, env }, { kernel }) => {
  const { activity } = await kernel.resume(asPid(pid), env);
  return { payload: { pid, state: activity ?? "running" } };
};
