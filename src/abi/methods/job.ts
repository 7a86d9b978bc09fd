/** Methods on work in the background and task lists. */
import * as z from "zod";
import { TASK_STATUSES } from "../task.ts";
import { type MethodSpec, pid } from "./spec.ts";

const job = z.strictObject({
  pid,
  id: z.string(),
  command: z.string(),
  cwd: z.string(),
  state: z.enum(["running", "exited", "killed", "lost"]),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  started_at: z.int(),
  ended_at: z.int().nullable(),
  output_path: z.string(),
  total_bytes: z.int(),
});
export type WireJob = z.infer<typeof job>;

const task = z.strictObject({
  id: z.string(),
  subject: z.string(),
  description: z.string(),
  active_form: z.string().optional(),
  owner: z.string().optional(),
  status: z.enum(TASK_STATUSES),
  blocks: z.array(z.string()),
  blocked_by: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type WireTask = z.infer<typeof task>;

export const JOB_METHODS = {
  "job.list": {
    summary: "commands in the background, of one process or of all",
    kind: "request",
    right: "observe",
    params: z.strictObject({ pid: pid.optional() }),
    result: z.strictObject({ jobs: z.array(job) }),
  },
  "job.output": {
    summary: "what a command in the background has printed, with `follow` until it ends",
    kind: "stream",
    right: "observe",
    params: z.strictObject({
      pid,
      job: z.string().max(64),
      from: z.int().min(0).optional(),
      follow: z.boolean().optional(),
    }),
    result: undefined,
  },
  "process.background": {
    summary:
      "a child that a call waits for goes on in the background; of a process that is no child, all its children",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid }),
    result: z.strictObject({
      handed_over: z.array(pid).describe("Their callers go on, and get a message when they end."),
    }),
  },
  "task.list": {
    summary: "task lists, and the tasks of one of them",
    kind: "request",
    right: "observe",
    params: z.strictObject({ list: z.string().max(64).optional() }),
    result: z
      .strictObject({
        lists: z.array(z.strictObject({ list: z.string(), open: z.int(), completed: z.int() })).optional(),
        tasks: z.array(task).optional(),
      })
      .describe("`lists` without a list name, `tasks` with one."),
  },
} as const satisfies Record<string, MethodSpec>;
