/**
 * The kernel as a process's own program sees it: that process's eyes, and its handle, so that all it does passes the gate in its
 * name. What is not here is not there: a method that is let through by mistake finds nothing to act with.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import type { Pid } from "../../abi/ids.ts";
import type { SpawnOpts, Syscalls } from "../../abi/sys.ts";
import type { ChildClient, KernelApi } from "../../kernel/ports/kernel-api.ts";

type Narrow = Pick<
  KernelApi,
  "init" | "active" | "osChildren" | "logs" | "forks" | "noticeOf" | "requests" | "spawnWatched"
>;

export function kernelFor(kernel: KernelApi, client: ChildClient): KernelApi {
  const hands = (): Syscalls => client.sys as Syscalls;
  const spawn = (intent: string, agent: AgentInfo | null, opts: SpawnOpts): Promise<Pid> =>
    hands().spawn(intent, agent, ownOpts(opts));
  const init: Pick<Syscalls, "getPid" | "listProcs" | "send" | "spawn"> = {
    getPid: () => client.pid,
    listProcs: async () => [...client.list()],
    // no other may be named: it speaks for itself
    send: (pid, data, signal, { request } = {}) =>
      hands().send(pid, data, signal, request === undefined ? {} : { request }),
    spawn,
  };
  const narrow: Narrow = {
    init: init as Syscalls,
    active: () => kernel.active(),
    osChildren: kernel.osChildren,
    logs: (pid, options) => kernel.logs(pid, options),
    forks: { steps: (pid, last) => kernel.forks.steps(pid, last) } as KernelApi["forks"],
    noticeOf: (pid) => kernel.noticeOf(pid),
    // of its own requests: it asks nobody itself, and lends nothing
    requests: { find: (id) => kernel.requests.find(id), rejoin: (pid) => kernel.requests.rejoin(pid, {}) },
    spawnWatched: async (intent, agent, opts) => {
      const pid = await spawn(intent, agent, opts);
      return { pid, events: kernel.attach(pid, { interactive: false }) };
    },
  };
  return narrow as KernelApi;
}

/** It asks nobody itself, and has the environment of who starts it. */
function ownOpts({ interactive: _asks, env: _env, client: _client, ...opts }: SpawnOpts): SpawnOpts {
  return opts;
}
