import type { AgentSeeker } from "../../../abi/agent.ts";
import { COORDINATOR } from "../../../abi/child.ts";
import type { ProcessEvent } from "../../../abi/events.ts";
import { asProcUuid, type Pid, type ProcUuid } from "../../../abi/ids.ts";
import type { SpawnRequest } from "../../../abi/methods/process.ts";
import type { PermissionMode } from "../../../abi/process.ts";
import type { RightsWish, RuleLists } from "../../../abi/rights.ts";
import { sandboxOff } from "../../../abi/sandbox.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import type { Subscription } from "../../../kernel/ports/subscription.ts";
import { audienceOf, followProcess } from "../follow-process.ts";
import type { Handler, MethodAnswer, RequestContext } from "../handler.ts";
import type { Marked } from "../repeats.ts";
import { invalid } from "../request.ts";
import { toBudget } from "./budget.ts";

const MAX_STDIN_BYTES = 4 * 1024 * 1024;

/** Starts a process and follows it to its end; the process continues when the client leaves. */
export const spawn: Handler<"spawn"> = async (params, call) => {
  if (params.client !== undefined && params.client !== "") call.claimName(params.client);
  if (params.cwd !== undefined && !params.cwd.startsWith("/"))
    throw invalid(`payload.cwd: must be absolute: ${params.cwd}`);
  return call.repeats.once(
    "spawn",
    params,
    call,
    (marked) => start(params, call, marked),
    ({ pid }) => rejoin(params, call, pid),
  );
};

async function start(
  params: SpawnRequest,
  call: RequestContext,
  marked: Marked,
): Promise<MethodAnswer<"spawn">> {
  const { kernel, deps } = call;
  const { cwd = deps.home, env = deps.env, agents = {} } = params;
  const name = params.agent ?? (beginsAsCoordinator(deps, { env, cwd }) ? COORDINATOR : undefined);
  const agent = await deps.loadAgent(name, { cwd, env, agents, ...ownServers(params) });
  if (params.detach) {
    const opts = { ...toOpts({ ...params, interactive: false }), ...marked };
    return detached(params, call, await kernel.init.spawn(params.intent, agent, opts));
  }
  const opts = { ...toOpts(params), ...marked, detail: params.detail };
  return followed(params, call, await kernel.spawnWatched(params.intent, agent, opts));
}

/** Whether a run or session begins as a coordinator where its client names no agent. */
export function beginsAsCoordinator(
  deps: RequestContext["deps"],
  { env, cwd }: { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
): boolean {
  return env.CRUX_COORDINATOR_MODE === "1" || deps.isCoordinator?.(cwd) === true;
}

function ownServers({ mcp_servers, strict_mcp = false }: SpawnRequest): Pick<AgentSeeker, "ownServers"> {
  if (mcp_servers === undefined && !strict_mcp) return {};
  return { ownServers: { entries: mcp_servers ?? {}, isStrict: strict_mcp } };
}

/** Rejoins the process that the same request has started before. */
async function rejoin(params: SpawnRequest, call: RequestContext, pid: Pid): Promise<MethodAnswer<"spawn">> {
  const { detach = false, interactive = false, env } = params;
  const events = await call.kernel.requests.rejoin(pid, {
    interactive: interactive && !detach,
    ...(env === undefined ? {} : { env }),
  });
  if (!detach) return followed(params, call, { pid, events });
  events.close();
  return detached(params, call, pid);
}

function detached(params: SpawnRequest, { kernel }: RequestContext, pid: Pid): MethodAnswer<"spawn"> {
  const notice = params.verbose === true ? kernel.noticeOf(pid) : "";
  return { payload: notice === "" ? { pid } : { pid, notice } };
}

interface Followed {
  readonly pid: Pid;
  /** Absent: the process was started by an earlier request. */
  readonly uuid?: ProcUuid;
  readonly events: Subscription<ProcessEvent>;
}

function followed(
  params: SpawnRequest,
  { deps, ended, gone }: RequestContext,
  { pid, uuid, events }: Followed,
): MethodAnswer<"spawn"> {
  const { interactive = false } = params;
  // a client that answers questions must stay connected, and a session becomes idle without a client; any other client
  // only listens and may have closed its own half
  const until = interactive || params.session === true ? ended : gone;
  const off = interactive && deps.sandbox !== undefined ? sandboxOff(deps.sandbox()) : undefined;
  const payload = {
    pid,
    ...(params.detail === undefined || uuid === undefined ? {} : { uuid }),
    ...(off === undefined ? {} : { sandbox: off }),
  };
  return { payload, follow: followProcess(events, audienceOf(params, deps), until) };
}

function toOpts(params: SpawnRequest): SpawnOpts {
  const { model, system_prompt, max_steps, timeout_ms, budget, cwd, env, permission_mode, interactive } =
    params;
  const { group, stdin, session, client } = params;
  const rights = rightsOf(params);
  return {
    ...(model === undefined ? {} : { model }),
    ...(params.effort === undefined ? {} : { effort: params.effort }),
    ...(params.fallback_models === undefined ? {} : { fallbackModels: params.fallback_models }),
    ...(system_prompt === undefined ? {} : { systemPrompt: system_prompt }),
    ...(params.instructions === undefined ? {} : { instructions: params.instructions }),
    ...(max_steps === undefined ? {} : { maxTurns: max_steps }),
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
    ...(budget === undefined ? {} : { contextBudget: budget }),
    ...(params.limits === undefined ? {} : { budget: toBudget(params.limits) }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(params.dirs === undefined ? {} : { dirs: params.dirs }),
    ...(params.agents === undefined ? {} : { agents: params.agents }),
    ...(params.worktree === undefined ? {} : { worktree: params.worktree }),
    ...(env === undefined ? {} : { env }),
    ...(permission_mode === undefined ? {} : { permissionMode: permission_mode as PermissionMode }),
    ...(Object.keys(rights).length === 0 ? {} : { rights }),
    ...(params.plan === true ? { plan: true } : {}),
    ...(interactive === undefined ? {} : { interactive }),
    ...(session === undefined ? {} : { session }),
    ...(client === undefined ? {} : { client }),
    ...(params.media === undefined ? {} : { media: params.media }),
    ...(group === undefined ? {} : { group }),
    ...(params.uuid === undefined ? {} : { uuid: asProcUuid(params.uuid) }),
    ...(stdin === undefined ? {} : { stdin: stdinBytes(stdin) }),
  };
}

function rightsOf({ allow, deny, settings, tools }: SpawnRequest): RightsWish {
  return {
    ...(tools === undefined ? {} : { tools }),
    ...(allow === undefined ? {} : { allow }),
    ...(deny === undefined ? {} : { deny }),
    ...(settings === undefined ? {} : { settings: listsOf(settings) }),
  };
}

function listsOf({ allow, ask, deny }: NonNullable<SpawnRequest["settings"]>): RuleLists {
  return {
    ...(allow === undefined ? {} : { allow }),
    ...(ask === undefined ? {} : { ask }),
    ...(deny === undefined ? {} : { deny }),
  };
}

function stdinBytes(stdin: NonNullable<SpawnRequest["stdin"]>): Uint8Array {
  const bytes = typeof stdin === "string" ? Buffer.from(stdin) : Buffer.from(stdin.base64, "base64");
  if (bytes.length <= MAX_STDIN_BYTES) return bytes;
  throw invalid(`payload.stdin: ${bytes.length} bytes, at most ${MAX_STDIN_BYTES}`);
}
