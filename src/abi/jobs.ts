/** Commands that run in the background of a process: what is kept of each, and what is told of it. */
import type { Pid } from "./ids.ts";

/** `lost`: Crux stopped while it ran. */
type JobState = "running" | "exited" | "killed" | "lost";

/** The kept value `job/<n>` of a process. Plain data. */
export interface JobRecord {
  /** `job-3`: counted from 1 for each process, never used again. */
  readonly id: string;
  /** Cut at 500 characters. */
  readonly command: string;
  readonly cwd: string;
  readonly state: JobState;
  /** null: it runs, or a signal ended it. */
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** Wall clock, ms. */
  readonly started_at: number;
  readonly ended_at: number | null;
  /** Of its output: a path below /var/out; "" it could not be kept. */
  readonly output_path: string;
  /** Printed, as far as it is known. */
  readonly total_bytes: number;
  /** Its end was told, by a note or by job_output. */
  readonly is_told: boolean;
}

/** A job as people see it. */
export interface JobView extends JobRecord {
  readonly pid: Pid;
}

const JOB_NAMES = "job/";

/** Of those that are kept: a job of which nothing is known to run has been lost. */
export function findJobs(kept: ReadonlyMap<string, unknown>): readonly JobRecord[] {
  return [...kept].filter(([name]) => name.startsWith(JOB_NAMES)).map(([, value]) => value as JobRecord);
}

export function jobName(id: string): string {
  return `${JOB_NAMES}${id.slice("job-".length)}`;
}
