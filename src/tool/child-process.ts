/** A descendant of the caller: a process that a tool may wait for, read or end. */
import type { ProcInfo } from "../abi/process.ts";
import type { Syscalls } from "../abi/sys.ts";
import { failure } from "./failure.ts";

/** A child of the caller. */
export async function findChild(
  sys: Syscalls,
  isWanted: (child: ProcInfo) => boolean,
): Promise<ProcInfo | undefined> {
  const own = sys.getPid();
  return (await sys.listProcs()).find((proc) => proc.ppid === own && isWanted(proc));
}

/** NOT_FOUND: no such process, or it is not a descendant of the caller; the two cases look the same. */
export async function findDescendant(sys: Syscalls, pid: number): Promise<ProcInfo> {
  const seen = new Map((await sys.listProcs()).map((proc) => [Number(proc.pid), proc]));
  const found = seen.get(pid);
  const self = Number(sys.getPid());
  for (let above = found; above !== undefined; above = seen.get(Number(above.ppid)))
    if (Number(above.ppid) === self && found !== undefined) return found;
  throw failure("NOT_FOUND", `no process ${pid} below this one`);
}
