import { asPid, type Pid } from "../../../abi/ids.ts";
import type { Result } from "../../../abi/methods/methods.ts";
import type { KernelApi } from "../../../kernel/ports/kernel-api.ts";
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
    const found = await kernel.sessions.view(pid);
    const { cwd } = found;
    if (env !== undefined) kernel.sessions.keepMode(pid, beginsAsCoordinator(deps, { env, cwd }));
    const view = toWireSession(found);
    const payload = { ...view, ...(await groundOf(kernel, pid)) };
    return { payload, follow: followProcess(events, audienceOf(params, deps), ended) };
  } catch (error) {
    events.close();
    throw error;
  }
};

export const sessionChange: Handler<"session.change"> = async (params, { kernel, deps }) => {
  const { env, dirs, agents, instructions, system_prompt: more = "" } = params;
  const { mcp_servers, strict_mcp: isStrict = false, tools } = params;
  const pid = asPid(params.pid);
  const { name, cwd } = await kernel.sessions.view(pid);
  const given = mcp_servers === undefined ? {} : { ownServers: { entries: mcp_servers, isStrict } };
  const agent = await deps.loadAgent(name === "" ? "none" : name, {
    ...{ cwd, env: env ?? deps.env, agents: agents ?? {} },
    ...given,
  });
  const isPrompt = instructions !== undefined || more !== "";
  const prompt = [instructions ?? agent?.systemPrompt ?? "", more].filter((part) => part !== "");
  await kernel.sessions.change(pid, {
    ...(env === undefined ? {} : { env }),
    ...(dirs === undefined ? {} : { dirs }),
    ...(agents === undefined ? {} : { agents }),
    ...(tools === undefined ? {} : { tools }),
    ...(isPrompt ? { systemPrompt: prompt.join("\n\n") } : {}),
    servers: agent?.manifest.mcp.filter(({ isGiven }) => isGiven === true) ?? [],
    isStrict,
  });
  return { payload: await groundOf(kernel, pid) };
};

async function groundOf(
  { sessions }: KernelApi,
  pid: Pid,
): Promise<Pick<Result<"session.open">, "dirs" | "mcp_servers">> {
  const { dirs, servers } = await sessions.ground(pid);
  return { dirs: [...dirs], mcp_servers: [...servers] };
}
