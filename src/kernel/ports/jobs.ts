/** Commands in the background of processes: dev/shell runs them, the kernel shows them. */
import type { ProcUuid } from "../../abi/ids.ts";
import type { JobRecord } from "../../abi/ops/jobs.ts";

export interface JobDesk {
  /** The running jobs of a process: bytes printed so far, by id. */
  live(uuid: ProcUuid): ReadonlyMap<string, number>;
  /** Up to `maxBytes` of its output from byte `from`; empty: no more for now. NOT_FOUND: its output was removed. */
  read(uuid: ProcUuid, job: JobRecord, from: number, maxBytes: number): Promise<Uint8Array>;
  /** Resolves when it has printed more than `bytes`, or has ended; at once if it is not running. */
  changed(uuid: ProcUuid, id: string, bytes: number, signal: AbortSignal): Promise<void>;
  /** Ends those of a process that run; it is told nothing of it. Resolves when they are gone. */
  endAll(uuid: ProcUuid): Promise<void>;
}
