import { asPid } from "../../../abi/ids.ts";
import { SIGNALS } from "../../../abi/process.ts";
import { audienceOf, followProcess } from "../follow-process.ts";
import type { Handler } from "../handler.ts";

/** Its answer has no other reader: so it ends with the client. */
export const sessionAside: Handler<"session.aside"> = async (params, { kernel, deps, ended }) => {
  const { text, env, detail } = params;
  const own = env === undefined ? {} : { env };
  const { pid, events } = await kernel.sessions.aside(asPid(params.pid), {
    ...own,
    ...{ text, detail, signal: ended },
  });
  const follow = followProcess(events, audienceOf({}, deps), ended);
  return {
    payload: { pid },
    follow: async (send) => {
      await follow(send);
      // one that has ended is not there any more
      await kernel.init.kill(pid, SIGNALS.SIGKILL).catch(() => {});
    },
  };
};
