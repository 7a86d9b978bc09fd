import { asPid } from "../../../../abi/ids.ts";
import { audienceOf, followProcess } from "../../follow-process.ts";
import type { Handler } from "../../handler.ts";

/**
 * Restores an idle session. Sends the lines of a spawn stream from now on; the last one is `complete`, immediately for
 * a process that has ended.
 */
export const processAttach: Handler<"process.attach"> = async (params, { kernel, deps, ended }) => {
  const { pid, interactive = false, detail } = params;
  await kernel.sessions.awake(asPid(pid));
  const events = kernel.attach(asPid(pid), { interactive, detail });
  // a process may send nothing for days: a client that closed its half counts as gone
  return { payload: undefined, follow: followProcess(events, audienceOf(params, deps), ended) };
};
