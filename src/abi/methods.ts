/**
 * The method registry: each method is declared once, and every wire, the docs and the clients come from it.
 * Keys are snake_case as on the text wire. Unknown keys within a payload are INVALID.
 * `stream`: the response is followed by events until the connection closes.
 */
import * as z from "zod";
import { BUDGET_METHODS, WireBudget } from "./budget-methods.ts";
import { COMPOSE_METHODS } from "./compose-methods.ts";
import { DEFINITION_METHODS } from "./definition-methods.ts";
import { FILE_METHODS } from "./file-methods.ts";
import { HISTORY_METHODS } from "./history-methods.ts";
import { JOB_METHODS } from "./job-methods.ts";
import { JOURNAL_METHODS } from "./journal-methods.ts";
import { empty, environment, idempotencyKey, type MethodSpec, name, pid, text } from "./method-spec.ts";
import { MODEL_METHODS } from "./model-methods.ts";
import { HOLDS, PERMISSION_MODES } from "./process.ts";
import { RIGHTS_METHODS } from "./rights-methods.ts";
import { RULE_DESTINATIONS } from "./rules.ts";
import { SESSION_METHODS } from "./session-methods.ts";
import { SETTINGS_METHODS } from "./settings-methods.ts";
import { TRUST_METHODS } from "./trust-methods.ts";

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
  /** Why it is paused; absent: it is not. */
  held: z.enum(HOLDS).optional(),
  created_at: z.string(),
  ctx_id: z.int(),
  allowed_devices: z.array(z.string()).nullable(),
  groups: z.array(z.int()),
  result: z.string(),
  exit: exit.nullable(),
  /** US dollars of its own calls; absent: nothing that has a price. */
  cost_usd: z.number().optional(),
  /** Calls whose price is not known, and so not in it. */
  unpriced_calls: z.int().optional(),
  /** The one that answered last, as its server calls it; before any did, the one that was asked for. */
  model: z.string().optional(),
  /** Of an agent, what it may without asking; absent: `default`. */
  mode: z.enum(PERMISSION_MODES).optional(),
  /** Kinds of what it has read: `label.list` tells where from. Absent: none. */
  labels: z.array(z.enum(["untrusted", "secret"])).optional(),
});
export type WireProc = z.infer<typeof WireProc>;

const rules = z.array(z.string().max(1024)).max(1000);

export const SpawnRequest = z.strictObject({
  intent: z.string(),
  /** Absent: the shipped default agent; "none": general mode without instructions. */
  agent: z.string().optional(),
  model: z.string().optional(),
  max_steps: z.int().min(0).optional(),
  budget: z.int().optional(),
  /** More limits, of it and all below it; `budget` is its tokens. */
  limits: WireBudget.optional(),
  system_prompt: z.string().optional(),
  timeout_ms: z.int().min(0).optional(),
  /** Absolute; default the user's home. */
  cwd: z.string().optional(),
  permission_mode: z.enum(PERMISSION_MODES).optional(),
  /** It begins in mode plan; once its plan is approved it works in the mode above. */
  plan: z.boolean().optional(),
  /** Rules for this process and what it starts, as in settings. */
  allow: rules.optional(),
  deny: rules.optional(),
  /** Of a file of settings for this process and what it starts: its rules have that source. */
  settings: z
    .strictObject({ allow: rules.optional(), ask: rules.optional(), deny: rules.optional() })
    .optional(),
  /** The client can show questions and answers them with ask.answer. */
  interactive: z.boolean().optional(),
  /** Response only; the connection stays usable. */
  detach: z.boolean().optional(),
  /** The environment of the process; default the daemon's. */
  env: z.record(z.string(), z.string()).optional(),
  /** Also send `tool` and `log` progress events. */
  verbose: z.boolean().optional(),
  /** Also send `call` and `said`: what a terminal shows of the calls, unless the settings say otherwise. */
  calls: z.boolean().optional(),
  /** It waits for the next message instead of ending; its intent may be empty. */
  session: z.boolean().optional(),
  /** Of a session: who says the intent, as in session.say. */
  client: z.string().max(64).optional(),
  /** A group to join. */
  group: z.string().max(64).optional(),
  /** Data for the process: its fd 0. Text, or bytes in base64; at most 4 MiB. */
  stdin: z.union([z.string(), z.strictObject({ base64: z.base64() })]).optional(),
  idempotency_key: idempotencyKey.optional(),
});
export type SpawnRequest = z.infer<typeof SpawnRequest>;

/**
 * A row of `top` and `tree`: the documented process and what else a person wants to see of it. `intent` and `result` are cut
 * at 160 characters, so that a full table still fits one line.
 */
export const WireRow = z.strictObject({
  ...WireProc.shape,
  /** Agent, program or supervisor; "" in general mode. */
  name: z.string(),
  model: z.string(),
  threads: z.int(),
  coroutines: z.int(),
  /** A person talks to it: it waits for the next message instead of ending. */
  session: z.literal(true).optional(),
});
export type WireRow = z.infer<typeof WireRow>;

const mcpConfig = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("stdio"),
    command: z.string().min(1),
    args: z.array(z.string()),
    env: environment,
    cwd: z.string().optional(),
  }),
  z.strictObject({ type: z.literal("http"), url: z.url(), headers: environment }),
]);

const mountView = z.strictObject({
  path: z.string(),
  pid,
  server: z.string(),
  state: z.enum(["pending", "connected", "failed"]),
  tools: z.int(),
  service_pid: pid.nullable(),
  problem: z.string(),
});

/** In safe mode: agents that are on record and were not restored; of their pids the first. */
const unrestored = z.strictObject({ agents: z.int(), pids: z.array(pid) });

export const METHODS = {
  ping: {
    summary: "liveness and version",
    kind: "request",
    right: "self",
    params: empty,
    /** `safe_mode`: nothing of what earlier daemons left was restored. `read_only`: nothing can be kept or run, and why. */
    result: z.strictObject({
      version: z.string(),
      safe_mode: z.literal(true).optional(),
      unrestored: unrestored.optional(),
      read_only: z.string().optional(),
    }),
  },
  spawn: {
    summary: "start a process and follow it to its end",
    kind: "stream",
    right: "spawn",
    params: SpawnRequest,
    /** `notice` only for a detached spawn that asked with `verbose`: nobody follows it who could be told later. */
    result: z.strictObject({
      pid,
      notice: z.string().optional(),
      /** To who can be asked, where its commands run without a sandbox: why, and what to do. */
      sandbox: z.string().optional(),
    }),
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
  "process.list": {
    summary: "all processes with what top and tree show",
    kind: "request",
    right: "observe",
    params: empty,
    result: z.strictObject({ processes: z.array(WireRow) }),
  },
  "process.signal": {
    summary: "send a signal to a process, with `tree` to all below it too",
    kind: "request",
    right: "control",
    params: z.strictObject({
      pid,
      signal: z.int(),
      tree: z.boolean().optional(),
      /** With RESUME: for a process that came back after a restart and has lost its client's environment. */
      env: environment.optional(),
    }),
    /** Those that were alive, by rising pid. */
    result: z.strictObject({ pids: z.array(pid) }),
  },
  "process.resume": {
    summary: "let a process go on that is paused, rests or has ended",
    kind: "request",
    right: "control",
    params: z.strictObject({
      pid,
      /** For one that has lost its client's environment. */
      env: environment.optional(),
    }),
    result: z.strictObject({
      pid,
      state: z.enum(["thinking", "tool", "waiting", "blocked", "paused", "running"]),
    }),
  },
  "process.attach": {
    summary: "follow a process that runs, from now to its end",
    kind: "stream",
    right: "observe",
    params: z.strictObject({
      pid,
      interactive: z.boolean().optional(),
      verbose: z.boolean().optional(),
      calls: z.boolean().optional(),
    }),
    result: undefined,
  },
  "process.logs": {
    summary: "the log of a process, alive or gone",
    kind: "stream",
    right: "observe",
    params: z.strictObject({
      pid,
      tail: z.int().min(0).max(100_000).optional(),
      follow: z.boolean().optional(),
    }),
    result: undefined,
  },
  ...HISTORY_METHODS,
  "group.list": {
    summary: "process groups and their members",
    kind: "request",
    right: "observe",
    params: empty,
    result: z.strictObject({
      groups: z.array(z.strictObject({ id: z.int(), name: z.string(), pids: z.array(pid) })),
    }),
  },
  "group.signal": {
    summary: "send a signal to all members of a group",
    kind: "request",
    right: "control",
    params: z.strictObject({ group: z.union([name, z.int().min(1)]), signal: z.int() }),
    result: z.strictObject({ reached: z.int() }),
  },
  "mail.send": {
    summary: "a message for a process; answered once it is durable",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, text, idempotency_key: idempotencyKey.optional() }),
    result: undefined,
  },
  ...RIGHTS_METHODS,
  ...TRUST_METHODS,
  ...SETTINGS_METHODS,
  ...MODEL_METHODS,
  ...FILE_METHODS,
  ...SESSION_METHODS,
  "supervisor.start_child": {
    summary: "start a child that is stopped",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, child: name }),
    result: undefined,
  },
  "supervisor.stop_child": {
    summary: "stop a child; it stays stopped",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, child: name }),
    result: undefined,
  },
  "supervisor.restart_child": {
    summary: "stop a child and start it again",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, child: name }),
    result: undefined,
  },
  ...COMPOSE_METHODS,
  "mcp.list": {
    summary: "mounted MCP servers",
    kind: "request",
    right: "observe",
    params: empty,
    result: z.strictObject({ mounts: z.array(mountView) }),
  },
  "mcp.mount": {
    summary: "mount an MCP server for all processes",
    kind: "request",
    right: "admin",
    params: z.strictObject({ path: z.string(), config: mcpConfig }),
    result: z.strictObject({ path: z.string(), state: z.enum(["pending", "connected", "failed"]) }),
  },
  "mcp.unmount": {
    summary: "unmount an MCP server",
    kind: "request",
    right: "admin",
    params: z.strictObject({ path: z.string() }),
    result: undefined,
  },
  "kernel.metrics": {
    summary: "what the daemon uses",
    kind: "request",
    right: "observe",
    params: empty,
    result: z.strictObject({
      at: z.int(),
      uptime_ms: z.int(),
      rss_bytes: z.int(),
      heap_bytes: z.int(),
      /** Longest delay of the event loop in the last seconds. */
      loop_lag_ms: z.number(),
      processes: z.int(),
      connections: z.int(),
      os_children: z.int(),
      /** Timers under way in the daemon: a number that rises for days is a leak. */
      timers: z.int(),
    }),
  },
  ...JOURNAL_METHODS,
  ...JOB_METHODS,
  ...DEFINITION_METHODS,
  ...BUDGET_METHODS,
  "ask.answer": {
    summary: "answer a question of the permission gate; the first answer wins",
    kind: "request",
    right: "approve",
    params: z.strictObject({
      ask_id: z.string(),
      answer: z.enum(["yes", "no", "always"]),
      /** With a no: for the model. With a yes to a limit that is reached: by how much it is raised, like 2usd or 50000. */
      words: z.string().max(4000).optional(),
      /** With "always": one of the suggested rules, or a narrower one; default the first of them. */
      rule: z.string().min(1).max(1024).optional(),
      /** With "always": where the rule is kept; default `session`. */
      destination: z.enum(RULE_DESTINATIONS).optional(),
      /** With "yes", to the questions of an agent: one each. */
      answers: z
        .array(
          z.strictObject({
            chosen: z.array(z.string().max(100)).max(4),
            text: z.string().max(10_000),
          }),
        )
        .max(4)
        .optional(),
      /** With "yes": other arguments for the call; they are decided anew. */
      input: z.record(z.string(), z.unknown()).optional(),
    }),
    /** Only where there is something to say: the rule could not be written, and holds for the session. */
    result: z.strictObject({ note: z.string() }).optional(),
  },
  auth: {
    summary:
      "show the cookie of the runtime directory: this connection may answer, grant and administer from now on",
    kind: "request",
    right: "self",
    params: z.strictObject({ cookie: z.string().min(1).max(256) }),
    /** `user`, or `process:3`: a program that an agent started stays what it is. */
    result: z.strictObject({ principal: z.string() }),
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
      safe_mode: z.literal(true).optional(),
      unrestored: unrestored.optional(),
      read_only: z.string().optional(),
      /** Who connects cannot be read on this host: the private folder of the socket stands in. */
      peers: z.literal("directory").optional(),
      /** Are commands confined? `why` and `fix`: where the machine cannot. `mode`: what the settings ask for. */
      sandbox: z
        .strictObject({
          available: z.boolean(),
          mode: z.enum(["on", "off", "required"]),
          kind: z.enum(["bubblewrap", "seatbelt"]).optional(),
          why: z.string().optional(),
          fix: z.string().optional(),
        })
        .optional(),
    }),
  },
} as const satisfies Record<string, MethodSpec>;

export type MethodName = keyof typeof METHODS;
/** Its request can have a key, and then happens once. */
export type KeyedMethod = {
  [M in MethodName]: keyof Params<M> extends infer K
    ? string extends K
      ? never
      : "idempotency_key" extends K
        ? M
        : never
    : never;
}[MethodName];
export type Params<M extends MethodName> = z.infer<(typeof METHODS)[M]["params"]>;
export type Result<M extends MethodName> = (typeof METHODS)[M]["result"] extends z.ZodType
  ? z.infer<NonNullable<(typeof METHODS)[M]["result"]>>
  : undefined;
