import { asPid, type Pid } from "../../../../abi/ids.ts";
import { type ProcInfo, SIGNALS, type Signal } from "../../../../abi/process.ts";
import type { KernelApi } from "../../../../kernel/ports/kernel-api.ts";
import type { Handler } from "../../handler.ts";
import { requireSignal } from "../../signal.ts";

export const processSignal: Handler<"process.signal"> = async (params, { kernel }) => {
  const pid = asPid(params.pid);
  const signal = requireSignal(params.signal, "Signal");
  const { tree = false, env } = params;
  // lent before the signal: a resumed process needs it at once
  if (signal === SIGNALS.SIGRESUME && env !== undefined)
    for (const each of tree ? await subtree(kernel, pid) : [pid]) kernel.lendEnv(each, env);
  const pids = tree ? await kernel.signalTree(pid, signal) : await signalOne(kernel, pid, signal);
  return { payload: { pids: [...pids] } };
};

/** The pid if it was running: a process that ignores the signal was, one that has ended was not. */
async function signalOne(kernel: KernelApi, pid: Pid, signal: Signal): Promise<readonly Pid[]> {
  if ((await kernel.init.signal(pid, signal)) !== "ignored") return [pid];
  const found = (await kernel.init.listProcs()).find((proc) => proc.pid === pid);
  return found?.state === "created" || found?.state === "running" ? [pid] : [];
}

/** A process and all its descendants. */
async function subtree(kernel: KernelApi, pid: Pid): Promise<readonly Pid[]> {
  const below = Map.groupBy(await kernel.init.listProcs(), (proc: ProcInfo) => proc.ppid);
  const found = new Set([pid]);
  for (const parent of found) for (const child of below.get(parent) ?? []) found.add(child.pid);
  return [...found];
}
