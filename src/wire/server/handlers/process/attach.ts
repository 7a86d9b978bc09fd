import { Fault } from "../../../../abi/errors.ts";
import { asPid } from "../../../../abi/ids.ts";
import { audienceOf, followProcess } from "../../follow-process.ts";
import type { Handler } from "../../handler.ts";

/**
 * Restores an idle session. Sends the lines of a spawn stream from now on; the last one is `complete`, immediately for
 * a process that has ended.
 */
export const processAttach: Handler<"process.attach"> = async (params, { kernel, deps, ended }) => {
  const { interactive = false, detail } = params;
  const pid = asPid(params.pid);
  await kernel.sessions.awake(pid);
  try {
    const events = kernel.attach(pid, { interactive, detail });
    // a process may send nothing for days: a client that closed its half counts as gone
    return { payload: undefined, follow: followProcess(events, audienceOf(params, deps), ended) };
  } catch (error) {
    if ((await kernel.init.ended(pid).catch(() => null)) === null) throw error;
    const fact = { kind: "ended", pid } as const;
    throw new Fault({ code: "NOT_FOUND", message: `process ${pid} has ended`, fact, cause: error });
  }
};
