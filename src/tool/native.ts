/** Programs that the caller has started: what the tools that talk to them share. */
import * as z from "zod";
import {
  findNative,
  findNatives,
  type NativeAnswer,
  type NativeRecord,
  type NativeRequest,
  type NativeWait,
} from "../abi/native/native-record.ts";
import { askDevice } from "./device-json.ts";
import { failure } from "./failure.ts";
import type { Outcome, RunContext, Scope } from "./tool.ts";

const QUIET_MS = 500;

export const ProgramRef = z.string().min(1).max(128).describe("id or pid");

export const waitArgs = (timeoutMs: number) => ({
  until: z.string().min(1).max(1_000).optional().describe("regex that new output must match"),
  quiet: z
    .int()
    .min(0)
    .max(600_000)
    .optional()
    .describe("ms without new output; 0: wait for until or the end"),
  timeout: z.int().min(0).max(600_000).default(timeoutMs).describe("of the wait, ms"),
});

export function waitOf({
  until,
  quiet = until === undefined ? QUIET_MS : 0,
  timeout,
}: {
  until?: string | undefined;
  quiet?: number | undefined;
  timeout: number;
}): NativeWait {
  return { ...(until === undefined ? {} : { until }), quiet_ms: quiet, timeout_ms: timeout };
}

export const NativeMeta = z.strictObject({
  id: z.string(),
  pid: z.int(),
  state: z.enum(["running", "exited", "killed", "lost"]),
  exit_code: z.int().nullable(),
  woken_by: z.enum(["match", "quiet", "end", "timeout", "limit"]),
  output: z.string(),
  next_offset: z.int(),
  total_bytes: z.int(),
});

/** NOT_FOUND: its message names those that there are. */
export function findProgram({ kept }: Scope, ref: string): NativeRecord {
  const found = findNative(kept?.entries(), ref);
  if (found !== undefined) return found;
  const known = findNatives(kept?.entries()).slice(-10);
  const names = known.map(({ id, pid }) => `${id} (${pid})`).join(", ");
  const hint = names === "" ? "this process has started none" : `started: ${names}`;
  throw failure("NOT_FOUND", `no program ${ref.slice(0, 128)} (${hint})`);
}

export async function askProgram(
  context: RunContext,
  pid: number,
  request: NativeRequest,
): Promise<NativeAnswer> {
  return askDevice<NativeAnswer>(context, `/dev/native/${pid}`, request);
}

const WOKEN: Readonly<Record<NativeAnswer["woken_by"], string>> = {
  match: "the pattern has matched",
  quiet: "it is quiet",
  end: "",
  timeout: "the wait is over",
  limit: "more output follows",
};

export function programOutcome(answer: NativeAnswer): Outcome {
  const { id, pid, state, exit_code, woken_by, output, next_offset, total_bytes } = answer;
  const ended = state === "lost" ? "Crux stopped while it ran" : answer.reason;
  const how = state === "running" ? WOKEN[woken_by] : ended;
  const words = [
    ...(answer.dropped_bytes > 0 ? [`${answer.dropped_bytes} bytes before this were dropped unread`] : []),
    ...(answer.unwritten_bytes > 0 ? [`it has not taken ${answer.unwritten_bytes} bytes yet`] : []),
    ...(total_bytes > next_offset ? [`${total_bytes - next_offset} bytes follow`] : []),
  ].map((each) => `; ${each}`);
  return {
    text: output,
    status: `${id} (process ${pid}): ${state}${how === "" ? "" : ` (${how})`}${words.join("")}`,
    meta: { id, pid, state, exit_code, woken_by, output, next_offset, total_bytes },
  };
}
