/** Processes and their streams (kernel IPC chapter, 5.2 and 5.4). */
import * as z from "zod";
import { IPC } from "../../ipc.ts";
import { PROCESS_KINDS, PROCESS_STATES } from "../../process.ts";
import { pid } from "../spec.ts";
import { type IpcMethodSpec, timeMs } from "./spec.ts";

const int = z.int();
const name = z.string().regex(/^[A-Za-z0-9._:/-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 . _ : / -");
/** Exactly one of the two names the process. */
const ref = { id: name.optional(), pid: pid.optional() };
const prefix = z.literal("kairo.").optional();
const size = { cols: int.min(1).max(1_000), rows: int.min(1).max(1_000) };
/** `bin` of MsgPack, or text. */
const bytes = z.union([z.string(), z.instanceof(Uint8Array)]);
const stream = z.string().min(1).max(128);

const usage = z.strictObject({ cpuMs: z.number(), rssBytes: int, peakRssBytes: int, children: int });
export const exit = z.strictObject({
  id: z.string(),
  pid,
  exitCode: int,
  signal: z.string().nullable(),
  reason: z.string(),
  kind: z.enum(["done", "fault", "killed"]),
  endedAt: timeMs,
  usage,
});
export type IpcExit = z.infer<typeof exit>;

const flow = z.strictObject({ bytes: int, droppedBytes: int, queuedBytes: int, open: z.boolean() });
const status = z.strictObject({
  id: z.string(),
  pid,
  ppid: pid,
  osPid: int.nullable(),
  kind: z.string(),
  state: z.enum(PROCESS_STATES),
  activity: z.string().nullable(),
  command: z.array(z.string()).nullable(),
  cwd: z.string(),
  startedAt: timeMs,
  elapsedMs: timeMs,
  pty: z.boolean(),
  usage: usage.nullable(),
  exit: exit.nullable(),
  intentId: z.string().nullable(),
  streams: z.strictObject({ stdin: flow, stdout: flow, stderr: flow }),
});
export type IpcStatus = z.infer<typeof status>;

const state = z.strictObject({ state: z.enum(PROCESS_STATES), activity: z.string().nullable() });
const streams = z.strictObject({
  stdin: stream.nullable(),
  stdout: stream.nullable(),
  stderr: stream.nullable(),
});
const perStream = z.strictObject({ stdout: int.optional(), stderr: int.optional() });

const spawnOptions = z.strictObject({
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  limits: z
    .strictObject({ cpu: z.number().positive().optional(), memory: int.positive().optional() })
    .optional(),
  pty: z
    .union([
      z.boolean(),
      z.strictObject({
        cols: size.cols.optional(),
        rows: size.rows.optional(),
        term: z.string().min(1).max(64).optional(),
      }),
    ])
    .optional(),
  stdin: z.enum(["pipe", "null"]).optional(),
  spoolBytes: int
    .min(65_536)
    .max(1024 * 1024 * 1024)
    .optional(),
  onSpoolFull: z.enum(["drop", "block"]).optional(),
  timeoutMs: int.min(0).optional(),
  group: z.string().min(1).max(64).optional(),
  scopes: z.array(z.string().min(1).max(128)).max(64).optional(),
  onDisconnect: z.enum(["keep", "terminate"]).optional(),
  confined: z.literal(true).optional(),
});
export type IpcSpawnOptions = z.infer<typeof spawnOptions>;

export const chunk = z.strictObject({
  stream,
  event: z.string(),
  seq: int,
  offset: int,
  next: int,
  pid: pid.optional(),
  id: z.string().optional(),
  data: z.instanceof(Uint8Array).optional(),
  lines: z.array(z.string()).max(IPC.linesOfFrame).optional(),
  partial: z.literal(true).optional(),
  gap: z.strictObject({ from: int, to: int }).optional(),
  end: z.literal(true).optional(),
});

export const IPC_PROCESS_METHODS = {
  "process.spawn": {
    summary: "start a program of the host, as a child of the caller",
    kind: "request",
    right: "spawn",
    idempotent: false,
    errors: ["CONFLICT", "NOT_FOUND", "BUDGET", "UNAVAILABLE"],
    params: z.strictObject({
      id: name,
      command: z.array(z.string()).min(1).max(4_096),
      options: spawnOptions.optional(),
    }),
    result: z.strictObject({
      id: z.string(),
      pid,
      osPid: int.nullable(),
      startedAt: timeMs,
      pty: z.boolean(),
      streams,
    }),
  },
  "process.kill": {
    summary:
      "signal a process: 1 TERM, 2 KILL, 3 INT, 4 PAUSE, 5 RESUME; after TERM and `graceMs` KILL follows",
    kind: "request",
    right: "control",
    idempotent: true,
    errors: ["NOT_FOUND"],
    params: z.strictObject({
      ...ref,
      signal: int.min(1).max(5).optional(),
      graceMs: int.min(0).max(3_600_000).optional(),
    }),
    result: state,
  },
  "process.pause": {
    summary: "stop a process until it is resumed",
    kind: "request",
    right: "control",
    idempotent: true,
    errors: ["NOT_FOUND"],
    params: z.strictObject(ref),
    result: state,
  },
  "process.resume": {
    summary: "let a paused process run",
    kind: "request",
    right: "control",
    idempotent: true,
    errors: ["NOT_FOUND"],
    params: z.strictObject(ref),
    result: state,
  },
  "process.wait": {
    summary: "wait for the end of a process, after the ends of its streams",
    kind: "request",
    right: "observe",
    idempotent: true,
    errors: ["NOT_FOUND", "TIMEOUT"],
    params: z.strictObject({ ...ref, timeoutMs: int.min(0).optional() }),
    result: exit,
  },
  "process.status": {
    summary: "what a process is doing and uses",
    kind: "request",
    right: "observe",
    idempotent: true,
    errors: ["NOT_FOUND"],
    params: z.strictObject(ref),
    result: status,
  },
  "process.list": {
    summary: "the processes that the caller sees, by rising pid",
    kind: "request",
    right: "observe",
    idempotent: true,
    params: z.strictObject({
      kind: z.enum(PROCESS_KINDS).optional(),
      state: z.enum(PROCESS_STATES).optional(),
      intentId: z.string().optional(),
    }),
    result: z.array(status),
  },
  "process.attach": {
    summary: "name the streams of a process; with `stdin` hold its input for this connection alone",
    kind: "request",
    right: "observe",
    idempotent: true,
    errors: ["NOT_FOUND", "CONFLICT"],
    params: z.strictObject({ ...ref, stdin: z.boolean().optional() }),
    result: z.strictObject({ attachment: z.string(), streams, offsets: perStream, pty: z.boolean() }),
  },
  "process.detach": {
    summary: "end an attachment",
    kind: "request",
    right: "observe",
    idempotent: true,
    params: z.strictObject({ attachment: z.string() }),
    result: z.strictObject({ detached: z.boolean() }),
  },
  "process.stdin.write": {
    summary: "write to the input of a process; with `eof` the input ends after it",
    kind: "request",
    right: "control",
    idempotent: false,
    errors: ["NOT_FOUND", "CONFLICT", "DRIVER"],
    params: z.strictObject({
      ...ref,
      data: bytes,
      encoding: z.enum(["utf8", "base64"]).optional(),
      eof: z.boolean().optional(),
    }),
    result: z.strictObject({ written: int, queuedBytes: int }),
  },
  "process.stream.subscribe": {
    summary: "follow the output of a process, from any position that is kept",
    kind: "stream",
    right: "observe",
    idempotent: true,
    errors: ["NOT_FOUND", "UNAVAILABLE"],
    params: z.strictObject({
      ...ref,
      stream: stream.optional(),
      filter: z.enum(["stdout", "stderr", "all"]).optional(),
      mode: z.enum(["chunk", "line"]).optional(),
      from: z.union([z.enum(["now", "start"]), int.min(0)]).optional(),
      window: int.min(1).max(IPC.maxCreditBytes).optional(),
      prefix,
    }),
    result: z.strictObject({
      subscriptions: z.strictObject({ stdout: stream.optional(), stderr: stream.optional() }),
      offsets: perStream,
    }),
    chunk,
  },
  "process.stream.unsubscribe": {
    summary: "end a subscription of this connection",
    kind: "request",
    right: "observe",
    idempotent: true,
    params: z.strictObject({ stream }),
    result: z.strictObject({ closed: z.boolean() }),
  },
  "process.pty.resize": {
    summary: "set the size of a process's terminal",
    kind: "request",
    right: "control",
    idempotent: true,
    errors: ["NOT_FOUND"],
    params: z.strictObject({ ...ref, ...size }),
    result: z.strictObject(size),
  },
  "stream.credit": {
    summary: "allow a subscription more bytes; with an empty id there is no answer",
    kind: "request",
    right: "self",
    idempotent: true,
    errors: ["NOT_FOUND"],
    params: z.strictObject({
      stream,
      bytes: int.min(0).optional(),
      events: int.min(0).optional(),
    }),
    result: z.strictObject({}),
  },
} as const satisfies Record<string, IpcMethodSpec>;
