/** job_output: the output of a job since it was last read, or the state of a child process. */
import * as z from "zod";
import { outputOf } from "../../abi/child.ts";
import { codeOf } from "../../abi/errors.ts";
import { asPid, type Pid } from "../../abi/ids.ts";
import type { JobAnswer } from "../../abi/ops/fs.ts";
import { findTarget, infoOf, treeNote } from "../child-process.ts";
import { askDevice } from "../device-json.ts";
import { readCruxFileEnd } from "../files.ts";
import { JobMeta, jobOutcome } from "../job-text.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./job_output.md";

const DEFAULT_WAIT_MS = 30_000;
const WORDS_CHARS = 8_000;

const Args = z.object({
  shell_id: z.string().min(1).max(64).describe("job-3, agent-… or the pid of a child"),
  block: z.boolean().optional().describe("wait for its end (default true)"),
  timeout: z.int().min(0).max(600_000).default(DEFAULT_WAIT_MS).describe("of the wait, ms"),
  offset: z.int().min(0).optional().describe("byte to read from"),
});
type Args = z.output<typeof Args>;

export const jobOutput = defineTool({
  name: "job_output",
  hint: "output of background job or child agent",
  text,
  args: Args,
  meta: JobMeta,
  maxResultChars: 30_000,
  overflow: "ends",
  readOnly: true,
  parallel: true,
  effects: ({ shell_id: id }) => [{ kind: "state", path: `/dev/shell/jobs/${id}` }],
  destructive: () => false,
  view: ({ shell_id: id }) => ({ operation: `read the output of ${id}`, params: {} }),
  about: (args) => String(args.shell_id),
  activity: ({ shell_id: id }) => `Waiting for ${id}`,
  run,
});

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const { shell_id: id, block = true, timeout, offset } = args;
  const child = await findTarget(context, id);
  if (child !== undefined) return outputOfChild(context, asPid(child), block ? timeout : 0);
  const request = { op: "output", block, timeout_ms: timeout, ...(offset === undefined ? {} : { offset }) };
  return jobOutcome(await askDevice<JobAnswer>(context, `/dev/shell/jobs/${id}`, request));
}

/** The result of a child, also of one that ended long ago; while it runs, the last that it has said. */
async function outputOfChild(context: RunContext, pid: Pid, waitMs: number): Promise<Outcome> {
  const { sys, signal } = context;
  let ended = await sys.ended(pid, { isTold: true });
  if (ended === null && waitMs > 0) {
    await sys.sleep(waitMs, signal, { pid });
    ended = await sys.ended(pid, { isTold: true });
  }
  const agentId = ended?.agentId ?? (await infoOf(sys, pid))?.child?.agentId;
  // one that no call started is not shown under a lasting name
  const said = agentId === undefined ? `/proc/${pid}/context` : outputOf(agentId);
  const words = ended === null || ended.result === "" ? await lastWords(context, said) : ended.result;
  const state = ended === null ? "running" : ended.exit.kind === "killed" ? "killed" : "exited";
  const reason = ended === null ? "" : ` (${ended.exit.reason})${treeNote(ended)}`;
  const total = Buffer.byteLength(words);
  return {
    text: words,
    status: `process ${pid}: ${state}${reason}`,
    meta: {
      shell_id: String(pid),
      state,
      exit_code: ended?.exit.code ?? null,
      output: words,
      next_offset: total,
      total_bytes: total,
    },
  };
}

async function lastWords(context: RunContext, path: string): Promise<string> {
  try {
    const bytes = await readCruxFileEnd(context, path, WORDS_CHARS * 4);
    return bytes.toString("utf8").slice(-WORDS_CHARS).toWellFormed().trimEnd();
  } catch (error) {
    if (codeOf(error) === "CANCELLED") throw error;
    return "";
  }
}
