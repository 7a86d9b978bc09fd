import type { JournalLine } from "../journal/line.ts";
import type { AnchorWire, CheckWire, CollectWire, VerifyWire } from "../journal/wire.ts";
import type { BUDGET_METHODS } from "../methods/budget.ts";
import type { COMPOSE_METHODS } from "../methods/compose.ts";
import type { JOB_METHODS } from "../methods/job.ts";
import type { JOURNAL_METHODS } from "../methods/journal.ts";
import type { MCP_METHODS } from "../methods/mcp.ts";
import type { SESSION_METHODS } from "../methods/session.ts";
import type { SUPERVISOR_METHODS } from "../methods/supervisor.ts";
import {
  AT,
  AT_MS,
  DAMAGED,
  HASH,
  KEY_REUSED,
  type MethodDocs,
  NO_PROCESS,
  NO_PROCESS_ON_RECORD,
  UUID,
} from "./method-doc.ts";

const ON_RECORD = { NOT_FOUND: NO_PROCESS_ON_RECORD };

export const SESSION_DOCS: MethodDocs<keyof typeof SESSION_METHODS> = {
  "session.list": {
    errors: {},
    params: { cwd: "/home/ana/shop" },
    result: {
      sessions: [
        {
          pid: 3,
          uuid: UUID,
          title: "fix the failing test",
          name: "general-purpose",
          cwd: "/home/ana/shop",
          state: "waiting",
          created_at: AT,
          last_at: AT,
          tokens_used: 1840,
          turns: 2,
          kept: false,
        },
      ],
    },
  },
  "session.open": {
    errors: { ...ON_RECORD, CONFLICT: DAMAGED },
    params: { pid: 3 },
    result: {
      pid: 3,
      uuid: UUID,
      title: "fix the failing test",
      name: "general-purpose",
      cwd: "/home/ana/shop",
      state: "waiting",
      created_at: AT,
      last_at: AT,
      tokens_used: 1840,
      turns: 2,
      kept: false,
      dirs: ["/home/ana/shop"],
      mcp_servers: ["notes"],
    },
    stream: "`progress` lines with the events of the session, then `complete` or `error`.",
    lines: [
      {
        type: "progress",
        payload: { event: "input", pid: 3, seq: 4, from: 0, client: "crux", text: "go on" },
      },
      { type: "progress", payload: { event: "reply", pid: 3, text: "The test passes now." } },
    ],
  },
  "session.change": {
    errors: {
      ...ON_RECORD,
      INVALID: "An entry is no MCP server, or the prompt is too long.",
      CONFLICT:
        "The session works, or another client is in it, and more than folders is to change; or it cannot be brought back.",
      PERMISSION: "A rule denies the folder, or it is a protected place.",
      UNAVAILABLE: "The journal cannot record it now.",
    },
    params: { pid: 3, dirs: ["/home/ana/docs"] },
    result: { dirs: ["/home/ana/shop", "/home/ana/docs"], mcp_servers: ["notes"] },
  },
  "session.say": {
    errors: {
      ...ON_RECORD,
      INVALID: "The message is empty, or its pictures exceed the bounds, or its model takes none.",
      UNAVAILABLE: "The mailbox is full.",
      CONFLICT: KEY_REUSED,
    },
    params: { pid: 3, text: "and the other test?" },
    result: { seq: 5, ahead: 0 },
  },
  "session.withdraw": {
    errors: { NOT_FOUND: NO_PROCESS, CONFLICT: "The message was read already, or does not exist." },
    params: { pid: 3, seq: 5 },
    result: undefined,
  },
  "session.aside": {
    errors: {
      ...ON_RECORD,
      CONFLICT: "The session is paused, has ended, or cannot be brought back.",
      UNAVAILABLE: "Two internal forks of the session run already, or the journal cannot record it now.",
    },
    params: { pid: 3, text: "which of the two files was it?" },
    result: { pid: 9 },
    stream:
      "`progress` lines with the events of the process that answers, then `complete`, whose `result` is the answer. When the connection closes, that process ends.",
    lines: [
      {
        type: "complete",
        payload: { event: "complete", pid: 9, result: "a.ts.", exit_code: 0, tokens_used: 1_204 },
      },
    ],
  },
  "session.serve_files": {
    errors: { NOT_FOUND: NO_PROCESS },
    params: { pid: 3, read: true, write: true },
    result: undefined,
    stream:
      "`event` lines, each a request of the session: `read` or `write` of one file. It ends with the connection.",
    lines: [
      {
        type: "event",
        payload: { id: "6f2c", op: "read", path: "/home/ana/shop/cart.ts" },
      },
    ],
  },
  "session.answer_file": {
    errors: { NOT_FOUND: "The request was answered, or nobody waits for it any more." },
    params: { id: "6f2c", text: "export const cart = [];\n" },
    result: undefined,
  },
  "session.history": {
    errors: { ...ON_RECORD, INVALID: "`before` is not the `next` of a page." },
    params: { pid: 3, limit: 20, made: true },
    result: {
      messages: [
        { role: "user", text: "fix the failing test", calls: [], at: AT, seq: 4, uuid: UUID },
        {
          ...{
            role: "assistant",
            text: "",
            calls: ['bash {"command":"npm test"}'],
            at: AT,
            seq: 6,
            uuid: UUID,
          },
          made: [
            {
              id: "toolu_1",
              tool: "bash",
              input: { command: "npm test" },
              result: "1 failed",
              is_error: true,
            },
          ],
          end: {
            outcome: "failed",
            message: "connection refused",
            code: "DRIVER",
            hint: "crux doctor shows what is set up",
          },
        },
      ],
    },
  },
  "session.describe": {
    errors: {
      ...ON_RECORD,
      INVALID: "Neither `title` nor `kept` is given, or the title is empty or too long.",
    },
    params: { pid: 3, title: "the flaky test", kept: true },
    result: undefined,
  },
};

export const JOB_DOCS: MethodDocs<keyof typeof JOB_METHODS> = {
  "job.list": {
    errors: { NOT_FOUND: NO_PROCESS },
    params: { pid: 3 },
    result: {
      jobs: [
        {
          pid: 3,
          id: "job-1",
          command: "npm run dev",
          cwd: "/home/ana/shop",
          state: "running",
          exit_code: null,
          signal: null,
          started_at: AT_MS,
          ended_at: null,
          output_path: "/var/out/3/job-1",
          total_bytes: 512,
        },
      ],
    },
  },
  "job.output": {
    errors: { NOT_FOUND: "No such process or job." },
    params: { pid: 3, job: "job-1", follow: true },
    result: undefined,
    stream: "`log` lines with the bytes in base64, then `eof`; or `error`.",
    lines: [{ type: "log", payload: { pid: 3, data: { base64: "cmVhZHkK" } } }, { type: "eof" }],
  },
  "process.background": {
    errors: {
      NOT_FOUND: NO_PROCESS,
      CONFLICT: "It has ended, or no call waits for it or for a child of it.",
    },
    params: { pid: 3 },
    result: { handed_over: [4, 5] },
  },
  "task.list": { errors: {}, params: {}, result: { lists: [{ list: "shop", open: 2, completed: 1 }] } },
};

export const BUDGET_DOCS: MethodDocs<keyof typeof BUDGET_METHODS> = {
  "budget.get": {
    errors: { NOT_FOUND: NO_PROCESS },
    params: { pid: 3 },
    result: {
      accounts: [
        {
          pid: 3,
          ppid: 0,
          name: "general-purpose",
          kind: "agent",
          intent: "fix the failing test",
          running: true,
          limits: { usd: 2 },
          own: { tokens: 1840, usd: 0.02 },
          spent: { tokens: 1840, usd: 0.02, steps: 4 },
          reserved: { tokens: 0, usd: 0, steps: 0 },
          wall_ms: 9100,
          children: 0,
          concurrent: 0,
          left: { tokens: null, usd: 1.98 },
        },
      ],
      windows: [],
    },
  },
  "budget.set": {
    errors: {
      NOT_FOUND: NO_PROCESS,
      INVALID: "`add` names a limit that the process does not have, or nothing is to be changed.",
    },
    params: { pid: 3, add: { usd: 1 } },
    result: { pid: 3, limits: { usd: 3 } },
  },
  "cost.get": {
    errors: {},
    params: { by: "model" },
    result: {
      by: "model",
      lines: [
        {
          ...{ key: "sonnet", calls: 4, tokens: 1840, input: 540, written: 200, cached: 1000, output: 300 },
          ...{ thinking: 120, usd: 0.02, unpriced: 0 },
        },
      ],
      cut: false,
    },
  },
};

const file = { services: { web: { intent: "review the latest commit" } } };
const BAD_FILE = "The file is not a compose file, or `dir` is not absolute; the message names the field.";

export const COMPOSE_DOCS: MethodDocs<keyof typeof COMPOSE_METHODS> = {
  "compose.config": {
    errors: { NOT_FOUND: "A service names an agent that does not exist.", INVALID: BAD_FILE },
    params: { file, dir: "/home/ana/shop" },
    result: { project: "shop", file: { name: "shop", ...file }, notices: [] },
  },
  "compose.up": {
    errors: {
      NOT_FOUND: "A service names an agent that does not exist, or `services` names no service.",
      INVALID: BAD_FILE,
      PERMISSION: "The folder brings files that are not trusted.",
      CONFLICT: `The project ended meanwhile. Or: ${KEY_REUSED}`,
      CANCELLED: "The client left before the project was up.",
    },
    params: { file, dir: "/home/ana/shop", path: "/home/ana/shop/crux.compose.yaml" },
    result: { pid: 4, project: "shop", children: ["web-1"], notices: [] },
    stream: "`event` lines with the events of the project, `log` lines with its output, then `eof`.",
    lines: [
      { type: "event", payload: { event: "started", child: "web-1", pid: 5 } },
      { type: "event", payload: { event: "up", project: "shop", pid: 4 } },
      { type: "eof" },
    ],
  },
  "compose.down": {
    errors: { NOT_FOUND: "No project of this name is running." },
    params: { project: "shop" },
    result: undefined,
  },
  "compose.ps": {
    errors: { NOT_FOUND: "No project has this name." },
    params: { project: "shop" },
    result: {
      project: "shop",
      pid: 4,
      services: [
        {
          service: "web",
          replica: 1,
          pid: 5,
          state: "running",
          exit_code: null,
          restarts: 0,
          tokens_used: 1840,
          elapsed_ms: 9100,
        },
      ],
    },
  },
  "compose.logs": {
    errors: { NOT_FOUND: "No project of this name, or no such service." },
    params: { project: "shop", tail: 20 },
    result: { children: ["web-1"] },
    stream: "`log` lines, then `eof`.",
    lines: [{ type: "log", payload: { event: "log", child: "web-1", text: "ready" } }, { type: "eof" }],
  },
};

const NO_CHILD = "No such supervisor or child.";

export const SUPERVISOR_DOCS: MethodDocs<keyof typeof SUPERVISOR_METHODS> = {
  "supervisor.start_child": {
    errors: {
      NOT_FOUND: NO_CHILD,
      CONFLICT: "The child is running already, or was stopped meanwhile.",
      UNAVAILABLE: "Too many calls wait for this supervisor.",
      CANCELLED: "The supervisor is ending.",
    },
    params: { pid: 4, child: "web-1" },
    result: undefined,
  },
  "supervisor.stop_child": {
    errors: {
      NOT_FOUND: NO_CHILD,
      UNAVAILABLE: "Too many calls wait for this supervisor.",
      CANCELLED: "The supervisor is ending.",
    },
    params: { pid: 4, child: "web-1" },
    result: undefined,
  },
  "supervisor.restart_child": {
    errors: {
      NOT_FOUND: NO_CHILD,
      CONFLICT: "The child was stopped or replaced meanwhile.",
      UNAVAILABLE: "Too many calls wait for this supervisor.",
      CANCELLED: "The supervisor is ending.",
    },
    params: { pid: 4, child: "web-1" },
    result: undefined,
  },
};

export const MCP_DOCS: MethodDocs<keyof typeof MCP_METHODS> = {
  "mcp.list": {
    errors: {},
    params: {},
    result: {
      mounts: [
        {
          path: "/mnt/mcp/notes",
          pid: 0,
          server: "memory",
          state: "connected",
          tools: 9,
          service_pid: 6,
          problem: "",
        },
      ],
    },
  },
  "mcp.mount": {
    errors: {
      INVALID: "The path is not below /mnt/mcp, or the configuration is not valid.",
      CONFLICT: "Another server is mounted at this path.",
      UNAVAILABLE: "There are too many mounts.",
    },
    params: {
      path: "/mnt/mcp/notes",
      config: { type: "stdio", command: "npx", args: ["-y", "@modelcontextprotocol/server-memory"], env: {} },
    },
    result: { path: "/mnt/mcp/notes", state: "connected" },
  },
  "mcp.unmount": {
    errors: {
      NOT_FOUND: "No server is mounted at this path.",
      PERMISSION: "A process mounted the server; only that process can unmount it.",
    },
    params: { path: "/mnt/mcp/notes" },
    result: undefined,
  },
};

const NO_JOURNAL = { UNAVAILABLE: "This daemon keeps no journal." };
const WORKS =
  "`progress` lines with the number of records so far, then `complete` with the report, or `error`.";

const anchor: AnchorWire = { lsn: 118, root: HASH, previous: "", at: AT_MS };
const checked: CheckWire = { processes: 3, records: 118, blobs: 2, elapsed_ms: 40, findings: [] };
const verified: VerifyWire = {
  records: 118,
  processes: 3,
  anchors: 1,
  unchecked_anchors: 0,
  last_anchor: anchor,
  broken: null,
  elapsed_ms: 40,
};
const collected: CollectWire = {
  processes: [{ pid: 2, proc: UUID, reason: "age" }],
  records: 40,
  blobs: 1,
  bytes: 16_384,
  usage: {
    database_bytes: 1_048_576,
    reusable_bytes: 16_384,
    blob_bytes: 4096,
    blobs: 1,
    records: 78,
    processes: 2,
    max_bytes: 21_474_836_480,
    free_bytes: 90_000_000_000,
  },
};
const line: JournalLine = {
  lsn: 12,
  seq: 3,
  epoch: 1,
  proc: UUID,
  pid: 3,
  kind: "process.log",
  v: 1,
  at: AT_MS,
  mono: 410,
  hash: HASH,
  body: { level: "info", message: "reading a.ts" },
};

export const JOURNAL_DOCS: MethodDocs<keyof typeof JOURNAL_METHODS> = {
  "journal.check": {
    errors: NO_JOURNAL,
    params: { full: true },
    result: undefined,
    stream: WORKS,
    lines: [
      { type: "progress", payload: { records: 60 } },
      { type: "complete", payload: checked },
    ],
  },
  "journal.verify": {
    errors: NO_JOURNAL,
    params: {},
    result: undefined,
    stream: WORKS,
    lines: [{ type: "complete", payload: verified }],
  },
  "journal.roots": {
    errors: NO_JOURNAL,
    params: {},
    result: undefined,
    stream: "A `record` line for each root, then `eof`; or `error`.",
    lines: [{ type: "record", payload: anchor }, { type: "eof" }],
  },
  "journal.read": {
    errors: { ...NO_JOURNAL, ...ON_RECORD },
    params: { process: "3", last: 1 },
    result: undefined,
    stream:
      "`record` lines, then `eof`; or `error`. `text` is a journal line in JSON; a long one comes in pieces, and `more` is true on all but the last.",
    lines: [{ type: "record", payload: { text: JSON.stringify(line) } }, { type: "eof" }],
  },
  "journal.collect": {
    errors: NO_JOURNAL,
    params: { dry_run: true },
    result: undefined,
    stream: "`complete` with the report, or `error`.",
    lines: [{ type: "complete", payload: collected }],
  },
};
