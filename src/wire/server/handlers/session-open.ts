import { asPid } from "../../../abi/ids.ts";
import { audienceOf, followProcess } from "../follow-process.ts";
import type { Handler } from "../handler.ts";
import { toWireSession } from "./session-history.ts";
import { beginsAsCoordinator } from "./spawn.ts";

/** The lines of process.attach, for a session that may have been idle, or for an agent that had ended. */
export const sessionOpen: Handler<"session.open"> = async (params, { kernel, deps, ended }) => {
  const { env, interactive = false } = params;
  const pid = asPid(params.pid);
  await kernel.sessions.awake(pid, { session: true, ...(env === undefined ? {} : { env }) });
  const events = kernel.attach(pid, { interactive, detail: params.detail });
  try {
    if (env !== undefined) kernel.sessions.keepMode(pid, beginsAsCoordinator(deps, env));
    const { dirs, servers } = await kernel.sessions.ground(pid);
    const view = toWireSession(await kernel.sessions.view(pid));
    const payload = { ...view, dirs: [...dirs], mcp_servers: [...servers] };
    return { payload, follow: followProcess(events, audienceOf(params, deps), ended) };
  } catch (error) {
    events.close();
    throw error;
  }
};
