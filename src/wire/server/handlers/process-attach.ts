import { asPid } from "../../../abi/ids.ts";
import { audienceOf, followProcess } from "../follow-process.ts";
import type { Handler } from "../handler.ts";

/** A session that rests comes back. The lines of a spawn stream, from now on; the last one is `complete`, at once for a process that has ended. */
export const processAttach: Handler<"process.attach"> = async (params, { kernel, deps, ended }) => {
  const { pid, interactive = false } = params;
  await kernel.sessions.awake(asPid(pid));
  const events = kernel.attach(asPid(pid), { interactive });
  // a process may say nothing for days: whoever closed its half has left
  return { payload: undefined, follow: followProcess(events, audienceOf(params, deps), ended) };
};
