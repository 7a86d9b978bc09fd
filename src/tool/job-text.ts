/** The output and the state of a job, as text for the model. */
import * as z from "zod";
import type { JobAnswer } from "../abi/ops/fs.ts";
import type { Outcome } from "./tool.ts";

export const JobMeta = z.strictObject({
  shell_id: z.string(),
  state: z.enum(["running", "exited", "killed", "lost"]),
  exit_code: z.int().nullable(),
  output: z.string(),
  next_offset: z.int(),
  total_bytes: z.int(),
});

export function jobOutcome({ job, output, next_offset: next, total_bytes: total }: JobAnswer): Outcome {
  const { id, state, exit_code: code, signal, output_path: path } = job;
  const ended = code === null ? (signal ?? "") : `exit ${code}`;
  const status = `${id}: ${state}${ended === "" || state === "running" ? "" : ` (${ended})`}`;
  const more = total > next ? `\n[bytes ${next} to ${total} follow: offset=${next}, or view ${path}]` : "";
  return {
    text: output,
    status: `${status}${more}`,
    meta: { shell_id: id, state, exit_code: code, output, next_offset: next, total_bytes: total },
    ...(path === "" ? {} : { kept: { path, totalChars: output.length, isPart: false } }),
  };
}
