/** job_kill: ends a background job and everything it started, or a child process. */
import * as z from "zod";
import type { JobAnswer } from "../../abi/fs-ops.ts";
import { asPid } from "../../abi/ids.ts";
import { findPid } from "../../abi/member.ts";
import { SIGNALS } from "../../abi/process.ts";
import { findDescendant } from "../child-process.ts";
import { askDevice } from "../device-json.ts";
import { failure } from "../failure.ts";
import { JobMeta, jobOutcome } from "../job-text.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./job_kill.md";

const Args = z.object({ shell_id: z.string().min(1).max(64).describe("job-3, or the pid of a child") });
type Args = z.output<typeof Args>;

export const jobKill = defineTool({
  name: "job_kill",
  hint: "end background job or child agent",
  text,
  args: Args,
  meta: JobMeta,
  maxResultChars: 30_000,
  overflow: "ends",
  effectClass: "repeat",
  parallel: true,
  // a job belongs to the caller; a child process is sent SIGTERM
  effects: ({ shell_id: id }) => {
    const child = findPid(id);
    if (child === undefined) return [{ kind: "state", path: `/dev/shell/jobs/${id}` }];
    return [{ kind: "message", to: String(child), signal: "SIGTERM" }];
  },
  view: ({ shell_id: id }) => ({ operation: `end ${id}`, params: {} }),
  about: (args) => String(args.shell_id),
  activity: ({ shell_id: id }) => `Ending ${id}`,
  run,
});

async function run({ shell_id: id }: Args, context: RunContext): Promise<Outcome> {
  const child = findPid(id);
  if (child !== undefined) return endChild(context, child);
  return jobOutcome(await askDevice<JobAnswer>(context, `/dev/shell/jobs/${id}`, { op: "kill" }));
}

async function endChild({ sys }: RunContext, pid: number): Promise<Outcome> {
  const { exit } = await findDescendant(sys, pid);
  if (exit !== null) throw failure("CONFLICT", `process ${pid} has already ended (${exit.reason})`);
  await sys.signal(asPid(pid), SIGNALS.SIGTERM);
  const meta = {
    shell_id: String(pid),
    state: "killed",
    exit_code: null,
    output: "",
    next_offset: 0,
    total_bytes: 0,
  };
  return { text: `process ${pid} was told to end`, meta };
}
