/** The jobs of processes as shown to the user: the stored record of each, and the progress of running ones. */

import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { findJobs, type JobRecord, type JobView } from "../../abi/ops/jobs.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { keptOf } from "./kept-values.ts";
import type { Process } from "./process.ts";
import type { ProcessTable } from "./table.ts";

/** Where the jobs of processes are. */
export interface JobPorts {
  readonly ports: Pick<KernelPorts, "jobs">;
}

/** What the jobs of all processes are found in. */
export interface JobList extends JobPorts {
  readonly table: Pick<ProcessTable, "all" | "get" | "require">;
}

/**
 * Jobs by rising pid, the oldest first. With `pid`, the history of a restored process is read first if needed.
 * NOT_FOUND: no such process.
 */
export async function jobsOf(core: JobList, pid?: Pid): Promise<readonly JobView[]> {
  if (pid === undefined)
    return [...core.table.all()].sort((a, b) => a.pid - b.pid).flatMap((proc) => viewsOf(core, proc));
  const proc = core.table.require(PID_KERNEL, pid, "Jobs", "see");
  await proc.past.recall();
  return viewsOf(core, proc);
}

function viewsOf(core: JobPorts, proc: Process): readonly JobView[] {
  const live = core.ports.jobs?.live(proc.seed.uuid) ?? new Map<string, number>();
  return findJobs(keptOf(proc)).map((job) => ({ ...asItIs(job, live), pid: proc.pid }));
}

function asItIs(job: JobRecord, live: ReadonlyMap<string, number>): JobRecord {
  if (job.state !== "running") return job;
  const bytes = live.get(job.id);
  return bytes === undefined ? { ...job, state: "lost" } : { ...job, total_bytes: bytes };
}

/** The number of running jobs; while it is above 0, their process is not idle. */
export function liveJobs(core: JobPorts, proc: Process): number {
  return core.ports.jobs?.live(proc.seed.uuid).size ?? 0;
}

/**
 * The output of a job from byte `from` on, in pieces; with `isFollowed`, until the job ends.
 * NOT_FOUND: no such job, or its output was removed.
 */
export async function* jobOutput(
  core: JobList,
  pid: Pid,
  id: string,
  { from, isFollowed, signal }: { from: number; isFollowed: boolean; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const { ports } = core;
  for (let at = from; ; ) {
    const job = (await jobsOf(core, pid)).find((each) => each.id === id);
    const proc = core.table.get(pid);
    if (job === undefined || proc === undefined || ports.jobs === undefined) throw jobNotFound(pid, id);
    const bytes = await ports.jobs.read(proc.seed.uuid, job, at, PIECE_BYTES);
    at += bytes.byteLength;
    if (bytes.byteLength > 0) yield bytes;
    else if (!isFollowed || job.state !== "running" || signal.aborted) return;
    else await ports.jobs.changed(proc.seed.uuid, id, at, signal);
  }
}

const PIECE_BYTES = 64 * 1024;

function jobNotFound(pid: Pid, id: string): SyscallError {
  const message = `job not found: ${id} of process ${pid}`;
  const fact = { kind: "no_job", pid } as const;
  return new SyscallError({ syscall: "Jobs", pid: PID_KERNEL, code: "NOT_FOUND", message, fact });
}
