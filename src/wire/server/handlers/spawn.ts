import type { SpawnRequest } from "../../../abi/methods.ts";
import type { PermissionMode } from "../../../abi/process.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import { encodeLine } from "../../codec/ndjson.ts";
import { follow } from "../follow.ts";
import type { Handler } from "../handler.ts";
import { type Audience, toLine } from "../progress.ts";
import { invalid } from "../request.ts";

/**
 * Starts a process and follows it to its end. The kernel's queue holds what a slow client has not yet taken (1,000
 * events, older steps go first, the end never). When the stream ends or the client goes, closing the subscription
 * hands the process to the reaper; it never ends it.
 */
export const spawn: Handler<"spawn"> = async (params, { kernel, deps, ended, gone }) => {
  if (params.cwd !== undefined && !params.cwd.startsWith("/"))
    throw invalid(`payload.cwd: must be absolute: ${params.cwd}`);
  const agent = await deps.loadAgent(params.agent, params.cwd ?? deps.home, params.env ?? deps.env);
  if (params.detach) {
    const pid = await kernel.init.spawn(params.intent, agent, toOpts({ ...params, interactive: false }));
    const notice = params.verbose === true ? kernel.noticeOf(pid) : "";
    return { payload: notice === "" ? { pid } : { pid, notice } };
  }
  const { pid, events } = await kernel.spawnWatched(params.intent, agent, toOpts(params));
  const audience: Audience = { interactive: params.interactive ?? false, verbose: params.verbose ?? false };
  // who can be asked must be there to answer; one that only listens may have closed its own half
  const until = audience.interactive ? ended : gone;
  return {
    payload: { pid },
    follow: async (send) => {
      await follow(events, until, async (event) => {
        const line = toLine(event, audience);
        return line === undefined || send(encodeLine(line));
      });
    },
  };
};

function toOpts(params: SpawnRequest): SpawnOpts {
  const { model, system_prompt, max_steps, timeout_ms, budget, cwd, env, permission_mode, interactive } =
    params;
  return {
    ...(model === undefined ? {} : { model }),
    ...(system_prompt === undefined ? {} : { systemPrompt: system_prompt }),
    ...(max_steps === undefined ? {} : { maxTurns: max_steps }),
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
    ...(budget === undefined ? {} : { contextBudget: budget }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(permission_mode === undefined ? {} : { permissionMode: permission_mode as PermissionMode }),
    ...(interactive === undefined ? {} : { interactive }),
  };
}
