import type { Handler } from "../../handler.ts";

const DEFAULT_TIMEOUT_MS = 10_000;

export const composeDown: Handler<"compose.down"> = async ({ project, timeout_ms, kill }, { kernel }) => {
  if (kill === true) await kernel.projects.kill(project);
  else await kernel.projects.down(project, timeout_ms ?? DEFAULT_TIMEOUT_MS);
  return { payload: undefined };
};
