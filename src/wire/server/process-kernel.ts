/**
 * The kernel for a process's own program: it sees what that process sees, which then has the labels of what it is told, and acts
 * through its handle, so that everything passes the gate in its name. Other parts are missing on purpose: a method admitted by mistake has nothing
 * to act with.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import type { Pid } from "../../abi/ids.ts";
import type { SpawnOpts, Syscalls } from "../../abi/sys.ts";
import type { ChildClient, KernelApi } from "../../kernel/ports/kernel-api.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";

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
    listProcs: async ({ after = 0, limit } = {}) => {
      const all = client.list().filter(({ pid }) => pid > after);
      const page = all.sort((a, b) => a.pid - b.pid).slice(0, limit);
      for (const { pid } of page) await client.hears(pid);
      return page;
    },
    // no other sender may be named: it speaks for itself
    send: (pid, data, signal, { request } = {}) =>
      hands().send(pid, data, signal, request === undefined ? {} : { request }),
    spawn,
  };
  const narrow: Narrow = {
    init: init as Syscalls,
    active: () => kernel.active(),
    osChildren: kernel.osChildren,
    logs: async (pid, options) => heard(await kernel.logs(pid, options), () => client.hears(pid)),
    forks: {
      steps: async (pid, last) => {
        const steps = await kernel.forks.steps(pid, last);
        await client.hears(pid);
        return steps;
      },
    } as KernelApi["forks"],
    noticeOf: (pid) => kernel.noticeOf(pid),
    // rejoins without options: it answers no questions and lends no environment
    requests: {
      find: (id) => kernel.requests.find(id),
      rejoin: async (pid) => heard(await kernel.requests.rejoin(pid, {}), () => client.hears(pid)),
    },
    spawnWatched: async (intent, agent, { detail, ...opts }) => {
      const pid = await spawn(intent, agent, opts);
      const events = kernel.attach(pid, { interactive: false, detail });
      return { pid, events: heard(events, () => client.hears(pid)) };
    },
  };
  return narrow as KernelApi;
}

/** Each event is told once it was heard. */
function heard<T>(events: Subscription<T>, hears: () => Promise<void>): Subscription<T> {
  return {
    get dropped() {
      return events.dropped;
    },
    close: () => events.close(),
    async *[Symbol.asyncIterator]() {
      for await (const event of events) {
        await hears();
        yield event;
      }
    },
  };
}

/**
 * Removes the client's options: the program answers no questions, and the new process gets the environment of its
 * parent.
 */
function ownOpts({ interactive: _asks, env: _env, client: _client, ...opts }: SpawnOpts): SpawnOpts {
  return opts;
}
