/**
 * The method registry: each method is declared once, and every wire, the docs and the clients come from it.
 * Keys are snake_case as on the text wire. Unknown keys within a payload are INVALID.
 * `stream`: the response is followed by events until the connection closes.
 */
import * as z from "zod";
import { PERMISSION_MODES } from "./process.ts";

const pid = z.int().min(0);
const empty = z.strictObject({});

const exit = z.strictObject({ code: z.int(), reason: z.string(), kind: z.enum(["done", "fault", "killed"]) });

/** One process as `ps --json --verbose` and `list_procs` show it; the first seven keys are the short form, in order. */
export const WireProc = z.strictObject({
  pid,
  ppid: pid,
  state: z.enum(["created", "running", "zombie", "dead"]),
  intent: z.string(),
  skills: z.array(z.string()),
  tokens_used: z.int(),
  elapsed_ms: z.int(),
  kind: z.enum(["agent", "native", "service", "supervisor"]),
  activity: z.enum(["thinking", "tool", "waiting", "blocked", "paused"]).nullable(),
  created_at: z.string(),
  ctx_id: z.int(),
  allowed_devices: z.array(z.string()).nullable(),
  groups: z.array(z.int()),
  result: z.string(),
  exit: exit.nullable(),
});
export type WireProc = z.infer<typeof WireProc>;

export const SpawnRequest = z.strictObject({
  intent: z.string(),
  /** Absent: the shipped default agent; "none": general mode without instructions. */
  agent: z.string().optional(),
  model: z.string().optional(),
  max_steps: z.int().min(0).optional(),
  budget: z.int().optional(),
  system_prompt: z.string().optional(),
  timeout_ms: z.int().min(0).optional(),
  /** Absolute; default the user's home. */
  cwd: z.string().optional(),
  permission_mode: z.enum(PERMISSION_MODES as [string, ...string[]]).optional(),
  /** The client can show questions and answers them with ask.answer. */
  interactive: z.boolean().optional(),
  /** Response only; the connection stays usable. */
  detach: z.boolean().optional(),
  /** The environment of the process; default the daemon's. */
  env: z.record(z.string(), z.string()).optional(),
  /** Also send `tool` and `log` progress events. */
  verbose: z.boolean().optional(),
});
export type SpawnRequest = z.infer<typeof SpawnRequest>;

interface MethodSpec {
  readonly summary: string;
  readonly kind: "request" | "stream";
  /** The right a caller needs; clients of the user's own socket have all. */
  readonly right: "self" | "observe" | "control" | "spawn" | "approve" | "admin";
  readonly params: z.ZodType;
  /** undefined: the response has no payload. */
  readonly result: z.ZodType | undefined;
}

export const METHODS = {
  ping: {
    summary: "liveness and version",
    kind: "request",
    right: "self",
    params: empty,
    result: z.strictObject({ version: z.string() }),
  },
  spawn: {
    summary: "start a process and follow it to its end",
    kind: "stream",
    right: "spawn",
    params: SpawnRequest,
    /** `notice` only for a detached spawn that asked with `verbose`: nobody follows it who could be told later. */
    result: z.strictObject({ pid, notice: z.string().optional() }),
  },
  list_procs: {
    summary: "all processes, by rising pid",
    kind: "request",
    right: "observe",
    params: empty,
    result: z.strictObject({ processes: z.array(WireProc) }),
  },
  kill: {
    summary: "send a signal (1 to 5; default 1, SIGTERM)",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, signal: z.number().optional() }),
    result: undefined,
  },
  attach_debug: {
    summary: "follow the kernel calls of a process",
    kind: "stream",
    right: "observe",
    params: z.strictObject({ pid, all: z.boolean().optional() }),
    result: undefined,
  },
  shutdown: {
    summary: "end all processes and stop the daemon",
    kind: "request",
    right: "admin",
    params: empty,
    result: undefined,
  },
  "process.wait": {
    summary: "wait for the end of a process and reap it",
    kind: "request",
    right: "observe",
    params: z.strictObject({ pid, timeout_ms: z.int().min(0).optional() }),
    result: z.strictObject({
      pid,
      exit_code: z.int(),
      reason: z.string(),
      kind: z.enum(["done", "fault", "killed"]),
      tokens_used: z.int(),
      elapsed_ms: z.int(),
    }),
  },
  "ask.answer": {
    summary: "answer a question of the permission gate; the first answer wins",
    kind: "request",
    right: "approve",
    params: z.strictObject({
      ask_id: z.string(),
      answer: z.enum(["yes", "no", "always"]),
      words: z.string().max(4000).optional(),
    }),
    result: undefined,
  },
  "kernel.status": {
    summary: "what the daemon is doing",
    kind: "request",
    right: "observe",
    params: empty,
    result: z.strictObject({
      version: z.string(),
      os_pid: z.int(),
      processes: z.int(),
      connections: z.int(),
      uptime_ms: z.int(),
    }),
  },
} as const satisfies Record<string, MethodSpec>;

export type MethodName = keyof typeof METHODS;
export type Params<M extends MethodName> = z.infer<(typeof METHODS)[M]["params"]>;
export type Result<M extends MethodName> = (typeof METHODS)[M]["result"] extends z.ZodType
  ? z.infer<NonNullable<(typeof METHODS)[M]["result"]>>
  : undefined;
