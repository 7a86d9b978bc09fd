import { GLOBAL } from "./help-flags.ts";

/** By command. */
export const JOB_TOPICS: Readonly<Record<string, string>> = {
  jobs: `Show the commands that agents run in the background

Usage:
  crux jobs [pid]                    the jobs of all processes, or of one
  crux jobs <pid> <job> [flags]      what a job has printed: job-3, or 3

  -f, --follow       go on until it ends; Ctrl-C leaves it alone
      --from <byte>  from that byte on

An agent starts a job with run_in_background, or gets one from a command that takes long. A job ends with its process.
While its process is paused a job goes on. After a crash of the daemon it is lost.
Modes: --quiet prints pid and job. --json prints one object, of an output one object {"output"} for each piece.

${GLOBAL}

Examples:
  crux jobs
  crux jobs 3 job-1 -f`,

  tasks: `Show the task lists that agents share

Usage:
  crux tasks [list]

Without a list, all of them with what is open and done. A list is named after its group, or its session's id; the
variable CRUX_TASK_LIST_ID of an agent's environment names another. Its files lie below tasks in the state folder.
Modes: --quiet prints names, or ids.

${GLOBAL}

Examples:
  crux tasks
  crux tasks team`,
};
