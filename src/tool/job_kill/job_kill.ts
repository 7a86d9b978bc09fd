/** job_kill: ends a background job and everything it started, or a child process. */
import * as z from "zod";
import { findPid } from "../../abi/member.ts";
import type { JobAnswer } from "../../abi/ops/fs.ts";
import { endTree, findTarget, treeNote } from "../child-process.ts";
import { askDevice } from "../device-json.ts";
import { JobMeta, jobOutcome } from "../job-text.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./job_kill.md";

const Args = z.object({
  shell_id: z.string().min(1).max(64).describe("job-3, agent-… or the pid of a child"),
});
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
  // a job belongs to the caller, and so do its children
  effects: ({ shell_id: id }) => [
    { kind: "state", path: isChild(id) ? `/proc/${id}` : `/dev/shell/jobs/${id}` },
  ],
  view: ({ shell_id: id }) => ({ operation: `end ${id}`, params: {} }),
  about: (args) => String(args.shell_id),
  activity: ({ shell_id: id }) => `Ending ${id}`,
  run,
});

function isChild(id: string): boolean {
  return findPid(id) !== undefined || id.startsWith("agent-");
}

async function run({ shell_id: id }: Args, context: RunContext): Promise<Outcome> {
  const child = await findTarget(context, id);
  if (child !== undefined) return endChild(context, child);
  return jobOutcome(await askDevice<JobAnswer>(context, `/dev/shell/jobs/${id}`, { op: "kill" }));
}

async function endChild(context: RunContext, pid: number): Promise<Outcome> {
  const ended = await endTree(context, pid);
  const { exit, result } = ended;
  const meta = {
    shell_id: String(pid),
    state: "killed",
    exit_code: exit.code,
    output: result,
    next_offset: 0,
    total_bytes: 0,
  };
  return { text: `process ${pid} has ended, with all below it${treeNote(ended)}`, meta };
}
