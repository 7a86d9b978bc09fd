/** Jobs: commands that run in the background of a process, as stored and as shown. */
import type { Pid } from "../ids.ts";

/** `lost`: Crux stopped while it ran. */
type JobState = "running" | "exited" | "killed" | "lost";

/** The stored value `job/<n>` of a process. Plain data. */
export interface JobRecord {
  /** `job-3`: counted from 1 for each process, never reused. */
  readonly id: string;
  /** Cut at 500 characters. */
  readonly command: string;
  readonly cwd: string;
  readonly state: JobState;
  /** null: it is running, or a signal ended it. */
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** Wall clock, ms. */
  readonly started_at: number;
  readonly ended_at: number | null;
  /** The path of its output below /var/out; "": it could not be stored. */
  readonly output_path: string;
  /** The bytes printed, as far as known. */
  readonly total_bytes: number;
  /** The model was notified of its end, by a note or by job_output. */
  readonly is_told: boolean;
}

/** A job as shown to the user. */
export interface JobView extends JobRecord {
  readonly pid: Pid;
}

const JOB_NAMES = "job/";

/** The jobs among the stored values of a process. One stored as `running` that no daemon runs any more was lost. */
export function findJobs(kept: ReadonlyMap<string, unknown>): readonly JobRecord[] {
  return [...kept].filter(([name]) => name.startsWith(JOB_NAMES)).map(([, value]) => value as JobRecord);
}

export function jobName(id: string): string {
  return `${JOB_NAMES}${id.slice("job-".length)}`;
}
