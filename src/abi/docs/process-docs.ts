import type { CONTEXT_METHODS } from "../methods/context.ts";
import type { HISTORY_METHODS } from "../methods/history.ts";
import type { KERNEL_METHODS } from "../methods/kernel.ts";
import type { PROCESS_METHODS, WireProc } from "../methods/process.ts";
import {
  AT,
  AT_MS,
  DAMAGED,
  KEY_REUSED,
  type MethodDocs,
  NO_PROCESS,
  NO_PROCESS_ON_RECORD,
  UUID,
} from "./method-doc.ts";

const proc: WireProc = {
  pid: 3,
  ppid: 0,
  state: "running",
  intent: "fix the failing test",
  skills: [],
  tokens_used: 1840,
  elapsed_ms: 5200,
  kind: "agent",
  activity: "tool",
  created_at: AT,
  ctx_id: 1,
  allowed_devices: null,
  groups: [],
  result: "",
  exit: null,
  model: "sonnet",
};

const BAD_SIGNAL = "The signal is not one of 1 (TERM), 2 (KILL), 3 (INT), 4 (PAUSE) and 5 (RESUME).";
const FOLLOWS = "`progress` lines with the events of the process, then `complete` or `error`.";

export const KERNEL_DOCS: MethodDocs<keyof typeof KERNEL_METHODS> = {
  ping: { errors: {}, params: {}, result: { version: "0.1.0" } },
  auth: {
    errors: { PERMISSION: "This is not the cookie of the running daemon; each start makes a new one." },
    params: { cookie: "9f86d081884c7d65" },
    result: { principal: "user" },
  },
  "kernel.status": {
    errors: {},
    params: {},
    result: {
      version: "0.1.0",
      os_pid: 4711,
      processes: 2,
      connections: 1,
      uptime_ms: 61_000,
      sandbox: { available: true, mode: "on", kind: "bubblewrap" },
    },
  },
  "kernel.metrics": {
    errors: {},
    params: {},
    result: {
      at: 61_000,
      uptime_ms: 61_000,
      rss_bytes: 98_000_000,
      heap_bytes: 31_000_000,
      loop_lag_ms: 1.5,
      processes: 2,
      connections: 1,
      os_children: 1,
      timers: 4,
    },
  },
  shutdown: { errors: {}, params: {}, result: undefined },
};

export const PROCESS_DOCS: MethodDocs<keyof typeof PROCESS_METHODS> = {
  spawn: {
    errors: {
      NOT_FOUND: "No such agent, skill or model.",
      INVALID:
        "The payload is not valid: a relative `cwd`, more than 4 MiB of `stdin` or of pictures, an agent file with errors.",
      PERMISSION: "The settings close this mode, or the caller is a process that may not start this child.",
      BUDGET: "A limit on the number of agents is reached, or the budget is used up.",
      CONFLICT: KEY_REUSED,
    },
    params: { intent: "fix the failing test", cwd: "/home/ana/shop", budget: 200_000 },
    result: { pid: 3 },
    stream: FOLLOWS,
    lines: [
      { type: "progress", payload: { event: "spawn", pid: 3, intent: "fix the failing test" } },
      { type: "progress", payload: { event: "step", pid: 3, step: 1, total: 10 } },
      {
        type: "complete",
        payload: { event: "complete", pid: 3, result: "Fixed.", exit_code: 0, tokens_used: 1840 },
      },
    ],
  },
  list_procs: { errors: {}, params: { cursor: 0, limit: 1 }, result: { processes: [proc], next: 3 } },
  kill: {
    errors: { NOT_FOUND: NO_PROCESS, INVALID: BAD_SIGNAL },
    params: { pid: 3, signal: 1 },
    result: undefined,
  },
  attach_debug: {
    errors: { NOT_FOUND: NO_PROCESS },
    params: { pid: 3 },
    result: undefined,
    stream: "A `syscall_event` line for each kernel call, then `eof`.",
    lines: [
      {
        type: "syscall_event",
        payload: {
          timestamp_ms: 120,
          pid: 3,
          syscall: "Open",
          args: { path: "/dev/fs/home/ana/shop/a.ts" },
          result: 4,
          duration_ms: 0.21,
        },
      },
      { type: "eof" },
    ],
  },
  "process.wait": {
    errors: { NOT_FOUND: NO_PROCESS_ON_RECORD, TIMEOUT: "The process still runs after `timeout_ms`." },
    params: { pid: 3, timeout_ms: 60_000 },
    result: { pid: 3, exit_code: 0, reason: "completed", kind: "done", tokens_used: 1840, elapsed_ms: 9100 },
  },
  "process.ended": {
    errors: {},
    params: { tree: 3, limit: 1 },
    result: {
      processes: [
        {
          ...proc,
          state: "dead",
          activity: null,
          exit: { code: 0, reason: "completed", kind: "done" },
          name: "general-purpose",
          model: "",
          threads: 0,
          coroutines: 0,
        },
      ],
    },
  },
  "process.list": {
    errors: {},
    params: {},
    result: {
      processes: [{ ...proc, name: "general-purpose", model: "sonnet", threads: 1, coroutines: 0 }],
    },
  },
  "process.signal": {
    errors: { NOT_FOUND: NO_PROCESS, INVALID: BAD_SIGNAL },
    params: { pid: 3, signal: 4, tree: true },
    result: { pids: [3, 5] },
  },
  "process.resume": {
    errors: { NOT_FOUND: NO_PROCESS_ON_RECORD, CONFLICT: DAMAGED },
    params: { pid: 3 },
    result: { pid: 3, state: "thinking" },
  },
  "process.note": {
    errors: {
      NOT_FOUND: NO_PROCESS,
      CONFLICT: "The process has ended: its note cannot change any more.",
      INVALID:
        "The note has more than one line or more than 200 characters, or the process is the kernel's own.",
    },
    params: { pid: 3, text: "waits for the release" },
    result: { pid: 3, note: "waits for the release" },
  },
  "process.renice": {
    errors: {
      NOT_FOUND: NO_PROCESS,
      CONFLICT: "The process has ended: its weight cannot change any more.",
      INVALID: "The process is the kernel's own.",
    },
    params: { pid: 3, weight: 30 },
    result: { pid: 3, weight: 30 },
  },
  "process.attach": {
    errors: { NOT_FOUND: NO_PROCESS },
    params: { pid: 3, verbose: true },
    result: undefined,
    stream: FOLLOWS,
    lines: [
      { type: "progress", payload: { event: "step", pid: 3, step: 4, total: 10 } },
      {
        type: "complete",
        payload: { event: "complete", pid: 3, result: "Fixed.", exit_code: 0, tokens_used: 1840 },
      },
    ],
  },
  "process.logs": {
    errors: { NOT_FOUND: NO_PROCESS_ON_RECORD },
    params: { pid: 3, tail: 20 },
    result: undefined,
    stream: "`log` lines, then `eof`.",
    lines: [
      { type: "log", payload: { pid: 3, timestamp_ms: 410, level: "info", message: "reading a.ts" } },
      { type: "eof" },
    ],
  },
  "group.list": { errors: {}, params: {}, result: { groups: [{ id: 1, name: "nightly", pids: [3, 5] }] } },
  "group.signal": {
    errors: { NOT_FOUND: "No such group.", INVALID: BAD_SIGNAL },
    params: { group: "nightly", signal: 4 },
    result: { reached: 2 },
  },
  "group.join": {
    errors: {
      NOT_FOUND: "No such process, or no group has this number.",
      INVALID: "Not a name of a group.",
      UNAVAILABLE: "The process is in 16 groups, or the group has 1,024 members.",
    },
    params: { pid: 3, group: "nightly" },
    result: { group: 1 },
  },
  "group.leave": {
    errors: { NOT_FOUND: "No such process or group, or the process is not a member." },
    params: { pid: 3, group: "nightly" },
    result: undefined,
  },
  "mail.send": {
    errors: { NOT_FOUND: NO_PROCESS, UNAVAILABLE: "The mailbox is full.", CONFLICT: KEY_REUSED },
    params: { pid: 3, text: "the build is green again" },
    result: undefined,
  },
};

const forked = { pid: 9, uuid: UUID, step: 12, from: UUID, at: 118 };
const HISTORY_ERRORS = {
  NOT_FOUND: "No such process, step or record.",
  INVALID: "The process is not an agent, or the record lies inside a call.",
  CONFLICT: DAMAGED,
};

const NO_CONTEXT = { NOT_FOUND: NO_PROCESS_ON_RECORD, INVALID: "The process is not an agent." };

export const CONTEXT_DOCS: MethodDocs<keyof typeof CONTEXT_METHODS> = {
  "context.stat": {
    errors: NO_CONTEXT,
    params: { pid: 3 },
    result: {
      ...{ pid: 3, driver: "anthropic", model: "claude-sonnet-4-5", window: 200_000, effective: 180_000 },
      ...{
        used: 31_200,
        exact: true,
        level: "ok",
        thresholds: { warn: 147_000, auto: 167_000, block: 177_000 },
      },
      ...{ compact: true, breaker: null, can_undo: true, boundaries: 1 },
      moves: [{ at: AT, layer: "full", trigger: "auto", before: 168_100, after: 24_800 }],
      ...{ records: 214, shown: 23 },
      parts: {
        ...{ system: 900, tools: 1_300, mcp: 0, agents: 0, skills: 400, instructions: 1_100, memory: 0 },
        ...{ pins: 0, messages: 9_200, results: 18_300 },
      },
      reserve: 20_000,
    },
  },
  "context.compact": {
    errors: {
      NOT_FOUND: "No process has this pid, or the message is not in view.",
      INVALID:
        "The process is not an agent, both `from` and `up_to` are given, or there is nothing to summarise on that side.",
      CONFLICT: "Nothing would be freed; or the process has ended, is paused, or waits for an answer.",
      UNAVAILABLE: "Compaction is turned off.",
    },
    params: { pid: 3, text: "keep the error texts" },
    result: { pid: 3, before: 95_400, after: 12_300 },
  },
  "context.undo": {
    errors: {
      NOT_FOUND: "No process has this pid, or nothing can be undone.",
      INVALID: NO_CONTEXT.INVALID,
      CONFLICT: "The view before would not fit; or the process has ended, is paused, or waits for an answer.",
    },
    params: { pid: 3 },
    result: { pid: 3, before: 12_300, after: 95_400 },
  },
  "context.pin": {
    errors: {
      NOT_FOUND: "No process has this pid, or the message is not in view.",
      INVALID: "The process is not an agent, or neither or both of `message` and `text` are given.",
      CONFLICT: "The process has ended, is paused, or waits for an answer.",
      BUDGET: "64 pins, 10,000 tokens each, and a quarter of the window together are the most.",
    },
    params: { pid: 3, text: "never push to main" },
    result: { pid: 3, message: 41 },
  },
  "context.unpin": {
    errors: {
      NOT_FOUND: "No process has this pid, or the message is not pinned.",
      INVALID: NO_CONTEXT.INVALID,
    },
    params: { pid: 3, message: 41 },
    result: { pid: 3, message: 41 },
  },
  "context.snip": {
    errors: {
      NOT_FOUND: "No process has this pid, or the conversation has no such message.",
      INVALID:
        "The process is not an agent; or a message is pinned, a summary, words of the user, or of the newest two steps.",
      CONFLICT: "The process has ended, is paused, or waits for an answer.",
    },
    params: { pid: 3, messages: [12, 14] },
    result: { pid: 3, before: 95_400, after: 71_900 },
  },
  "context.memory": {
    errors: {
      ...NO_CONTEXT,
      CONFLICT: "The process has ended, is paused, or waits for an answer.",
    },
    params: { pid: 3, on: false },
    result: { pid: 3, before: 12_300, after: 11_200 },
  },
  "context.clear": {
    errors: {
      ...NO_CONTEXT,
      CONFLICT: "The process is not a session that waits for a message, or its view is empty already.",
    },
    params: { pid: 3 },
    result: { pid: 3, before: 12_300, after: 2_900 },
  },
};

export const HISTORY_DOCS: MethodDocs<keyof typeof HISTORY_METHODS> = {
  "process.steps": {
    errors: HISTORY_ERRORS,
    params: { pid: 3, last: 10 },
    result: {
      pid: 3,
      steps: [
        {
          step: 1,
          at: AT,
          words: "I look at the test first.",
          asked: ["fix the test of the cart"],
          files: ["/home/ana/shop/a.ts"],
          file_count: 1,
          commands: 0,
          uuid: UUID,
          seq: 14,
        },
      ],
    },
  },
  "process.fork": {
    errors: {
      ...HISTORY_ERRORS,
      CONFLICT: `${DAMAGED} Or: another process has or had the uuid. Or: ${KEY_REUSED}`,
    },
    params: { pid: 3, at: { step: 12 }, text: "try it without the cache", wake: true },
    result: forked,
  },
  "process.rewind": {
    errors: { ...HISTORY_ERRORS, CONFLICT: `${DAMAGED} Or: the process is running.` },
    params: { pid: 3, at: { step: 12 }, files: true, dry_run: true },
    result: {
      pid: 3,
      step: 12,
      seq: 118,
      refused: false,
      files: [{ path: "/home/ana/shop/a.ts", deed: "restored", reason: "", insertions: 2, deletions: 5 }],
      conflicts: [],
      commands: ["npm test"],
      command_count: 1,
      fork: null,
    },
  },
  "process.replay": {
    errors: {
      NOT_FOUND: NO_PROCESS_ON_RECORD,
      INVALID: "Neither `pid` nor `path` is given, or the file is not a file of records.",
    },
    params: { pid: 3 },
    result: {
      pid: 3,
      steps: 12,
      records: 118,
      runs: 1,
      recorded: ["0.1.0"],
      version: "0.1.0",
      outcome: "same",
    },
  },
  "process.records": {
    errors: { NOT_FOUND: NO_PROCESS_ON_RECORD },
    params: { pid: 3 },
    result: undefined,
    stream: "An `event` line for each record that clients saw, then `eof`.",
    lines: [
      {
        type: "event",
        payload: { seq: 9, pid: 3, kind: "process.log", at: AT_MS, body: { message: "reading a.ts" } },
      },
      { type: "eof" },
    ],
  },
};
