/** A process below the caller: what a tool may wait for, read or end. */
import type { ProcInfo } from "../abi/process.ts";
import type { Syscalls } from "../abi/sys.ts";
import { failure } from "./failure.ts";

/** NOT_FOUND: there is none, or it is not below the caller; these are not told apart. */
export async function findDescendant(sys: Syscalls, pid: number): Promise<ProcInfo> {
  const seen = new Map((await sys.listProcs()).map((proc) => [Number(proc.pid), proc]));
  const found = seen.get(pid);
  const self = Number(sys.getPid());
  for (let above = found; above !== undefined; above = seen.get(Number(above.ppid)))
    if (Number(above.ppid) === self && found !== undefined) return found;
  throw failure("NOT_FOUND", `no process ${pid} below this one`);
}
