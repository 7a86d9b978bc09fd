/** The methods of processes, groups and mail, and their results. */
import * as z from "zod";
import { DETAILS } from "../events.ts";
import { WEIGHT } from "../lanes.ts";
import { EFFORTS } from "../llm.ts";
import { AGENT_COLORS, HOLDS, PERMISSION_MODES, PROCESS_KINDS } from "../process.ts";
import { PROTOCOL } from "../wire.ts";
import { WireBudget } from "./budget.ts";
import { GivenAgents } from "./definition.ts";
import { GivenServers } from "./mcp.ts";
import { empty, environment, idempotencyKey, type MethodSpec, name, pictures, pid, text } from "./spec.ts";

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
  kind: z.enum(PROCESS_KINDS),
  activity: z.enum(["thinking", "tool", "waiting", "idle", "blocked", "paused"]).nullable(),
  tool: z.string().optional().describe("Tool whose call runs, of several the first; absent: none does."),
  held: z.enum(HOLDS).optional().describe("Why the process is paused; absent: it is not paused."),
  slot: z
    .strictObject({
      lane: z.string(),
      waited_ms: z.int(),
      place: z.int().optional().describe("Its position in the queue of the lane; 1 is the next."),
    })
    .optional()
    .describe(
      "Driver and model whose slot it waits for, and how long already; absent: it does not wait for one.",
    ),
  queue: z
    .strictObject({ place: z.int(), of: z.int() })
    .optional()
    .describe("Its place among the agents of its tree that wait to begin; absent: it does not wait."),
  agent_id: z
    .string()
    .optional()
    .describe(
      "Name of an agent that a call started, which lasts as long as its history; absent: no call did.",
    ),
  call: z.string().optional().describe("Id of the call of `agent` that started it; absent: no call did."),
  background: z
    .literal(true)
    .optional()
    .describe("True for an agent that works in the background: its parent is told when it ends."),
  called: z.string().optional().describe("Name that the call of `agent` gave it; absent: none."),
  title: z
    .string()
    .optional()
    .describe("What the call of `agent` said of it, in few words; absent: no call did."),
  team: z.string().optional().describe("Team that it is a member of; absent: none."),
  created_at: z.string(),
  ctx_id: z.int(),
  allowed_devices: z.array(z.string()).nullable(),
  groups: z.array(z.int()),
  result: z.string(),
  exit: exit.nullable(),
  cost_usd: z
    .number()
    .optional()
    .describe("Cost of its own model calls in US dollars; absent: no call had a price."),
  unpriced_calls: z
    .int()
    .optional()
    .describe("Model calls without a known price; they are not in `cost_usd`."),
  subtree: z
    .strictObject({ tokens_used: z.int(), cost_usd: z.number() })
    .optional()
    .describe("What it and all below it have used, also those that have ended; absent: as much as itself."),
  model: z
    .string()
    .optional()
    .describe(
      "The model that answered last, as its server names it; before the first answer, the requested model.",
    ),
  mode: z.enum(PERMISSION_MODES).optional().describe("Permission mode of an agent; absent: default mode."),
  labels: z
    .array(z.enum(["untrusted", "secret"]))
    .optional()
    .describe("Kinds of labels the process carries; label.list says where they came from. Absent: none."),
  color: z
    .enum(AGENT_COLORS)
    .optional()
    .describe("The colour in which its agent file wants it shown; absent: it names none."),
  fork: z
    .string()
    .optional()
    .describe(
      "What a fork that an agent started of itself is for, `fork` if a call of its model did; absent: it is not one.",
    ),
  worktree: z
    .strictObject({ path: z.string(), branch: z.string() })
    .optional()
    .describe("Git worktree that was made for it; absent: none."),
  note: z.string().optional().describe("Line that the user pinned to the process; absent: none."),
});
export type WireProc = z.infer<typeof WireProc>;

const rules = z.array(z.string().max(1024)).max(1000);

export const SpawnRequest = z.strictObject({
  intent: z.string(),
  agent: z
    .string()
    .optional()
    .describe(
      'Name of the agent file; absent: the shipped default agent; "none": no agent file, plain reasoning.',
    ),
  model: z.string().optional(),
  effort: z
    .enum(EFFORTS)
    .optional()
    .describe("How much the model is asked to think; absent: the agent file decides, then the settings."),
  fallback_models: z
    .array(z.string().min(1).max(256))
    .max(8)
    .optional()
    .describe(
      "Models that answer for the rest of a run, in order, when the model is overloaded or does not exist; absent: those of the agent file, then those of the setting fallbackModel.",
    ),
  max_steps: z.int().min(0).optional(),
  budget: z.int().optional(),
  limits: WireBudget.optional().describe(
    "Limits of the process and all its descendants; its token limit can also be given as `budget`.",
  ),
  system_prompt: z.string().optional().describe("More instructions, after those of the agent."),
  instructions: z
    .string()
    .optional()
    .describe("Instructions in place of those of the agent; its tools and rights stay as they are."),
  tools: z
    .array(z.string().min(1).max(256))
    .max(1000)
    .optional()
    .describe("The only tools that it and its descendants have, as in an agent file; absent: the agent's."),
  timeout_ms: z.int().min(0).optional(),
  cwd: z.string().optional().describe("Working directory, absolute; default: the user's home."),
  dirs: z
    .array(z.string().startsWith("/").max(4096))
    .max(64)
    .optional()
    .describe("More directories that it works in, as it does in `cwd`; absent: none."),
  worktree: z
    .string()
    .max(64)
    .optional()
    .describe(
      'Work in a git worktree of this name, apart from the checkout at `cwd`, on the branch worktree/<name>; "": Crux names it.',
    ),
  agents: GivenAgents.optional().describe(
    "Agents that it and all below it may start, by name: settings as in an agent file, and `prompt`; at most 64 KiB.",
  ),
  mcp_servers: GivenServers.optional().describe(
    "MCP servers for it and all below it, by name: entries as in .mcp.json, which count before others of their names; at most 64 KiB.",
  ),
  strict_mcp: z
    .boolean()
    .optional()
    .describe("Of the servers of its agent and its folder it has none: only those of `mcp_servers`."),
  permission_mode: z.enum(PERMISSION_MODES).optional(),
  plan: z
    .boolean()
    .optional()
    .describe("Start in plan mode; after its plan is approved the process works in `permission_mode`."),
  allow: rules
    .optional()
    .describe("Allow rules for this process and its descendants, written as in settings."),
  deny: rules.optional(),
  settings: z
    .strictObject({ allow: rules.optional(), ask: rules.optional(), deny: rules.optional() })
    .optional()
    .describe("Rules of a settings file (--settings) for this process and its descendants."),
  interactive: z
    .boolean()
    .optional()
    .describe("The client can show questions and will answer them with ask.answer."),
  detach: z.boolean().optional().describe("Answer and send no events; the connection stays usable."),
  env: z
    .record(z.string(), z.string())
    .optional()
    .describe("Environment of the process; default: the daemon's."),
  verbose: z
    .boolean()
    .optional()
    .describe("Also send the events `tool`, `log` and `paused`, and the details of the run."),
  calls: z
    .boolean()
    .optional()
    .describe("Also send the events `call` and `said`, unless the setting `ui.calls` is false."),
  detail: z
    .enum(DETAILS)
    .optional()
    .describe(
      "Also send the events `message` and `tool_result`, and with `deltas` also `delta`; the answer has the `uuid`.",
    ),
  session: z
    .boolean()
    .optional()
    .describe(
      "Start a session: the process waits for the next message instead of ending. The intent may be empty.",
    ),
  client: z
    .string()
    .max(64)
    .optional()
    .describe("Name of the client that says the intent of a session, as in session.say."),
  media: pictures.optional(),
  uuid: z
    .string()
    .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "must be a uuid in small letters")
    .optional()
    .describe("The uuid that the process gets; CONFLICT: another has or had it."),
  group: z.string().max(64).optional().describe("Process group to join."),
  stdin: z
    .union([z.string(), z.strictObject({ base64: z.base64() })])
    .optional()
    .describe("Data for fd 0 of the process: text, or bytes in base64; at most 4 MiB."),
  idempotency_key: idempotencyKey.optional(),
});
export type SpawnRequest = z.infer<typeof SpawnRequest>;

/**
 * A row of `top` and `tree`: the documented process and more fields for display. `intent` and `result` are cut at 160
 * characters, so that a full table still fits one line.
 */
export const WireRow = z.strictObject({
  ...WireProc.shape,
  name: z.string().describe('Name of the agent, program or supervisor; "": no agent file.'),
  model: z.string(),
  threads: z.int(),
  coroutines: z.int(),
  coming_tokens: z
    .int()
    .optional()
    .describe("Estimate of the tokens of the reply that arrives, beside `tokens_used`; absent: none does."),
  session: z
    .literal(true)
    .optional()
    .describe("True for a session: the process waits for the next message instead of ending."),
});
export type WireRow = z.infer<typeof WireRow>;

const page = z.strictObject({
  cursor: z.int().nonnegative().optional().describe("The `next` of the page before; absent: from the first."),
  limit: z
    .int()
    .positive()
    .max(PROTOCOL.processesOfPage)
    .optional()
    .describe("At most so many; absent: all."),
});

const next = z.int().optional().describe("The cursor of the next page; absent: this is the last.");

export const PROCESS_METHODS = {
  spawn: {
    summary: "start a process and follow it to its end",
    kind: "stream",
    right: "spawn",
    params: SpawnRequest,
    result: z
      .strictObject({
        pid,
        uuid: z
          .string()
          .optional()
          .describe("With `detail`: the process by its uuid, which outlives the pid."),
        notice: z.string().optional(),
        sandbox: z
          .string()
          .optional()
          .describe("For an interactive client, if commands run without a sandbox: why, and how to fix it."),
      })
      .describe(
        "`notice` is present only for a detached spawn with `verbose`, because no event can carry it later.",
      ),
  },
  list_procs: {
    summary: "all processes, by rising pid",
    kind: "request",
    right: "observe",
    params: page,
    result: z.strictObject({ processes: z.array(WireProc), next }),
  },
  kill: {
    summary: "send a signal (1 to 5; default 1, SIGTERM)",
    kind: "request",
    right: "control",
    params: z.strictObject({
      pid,
      signal: z.number().optional(),
      while_connected: z
        .boolean()
        .optional()
        .describe("With SIGPAUSE: the process is resumed as soon as this connection is closed."),
      background: z
        .array(z.enum(["agents", "jobs"]))
        .optional()
        .describe("What of its work in the background ends first; it is told nothing of that."),
    }),
    result: undefined,
  },
  attach_debug: {
    summary: "follow the kernel calls of a process",
    kind: "stream",
    right: "observe",
    params: z.strictObject({ pid, all: z.boolean().optional() }),
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
      cost_usd: z
        .number()
        .optional()
        .describe("Cost of its own model calls in US dollars; absent: none known."),
      unpriced_calls: z.int().optional().describe("Model calls without a known price, if any."),
    }),
  },
  "process.ended": {
    summary: "processes that have ended and that only the journal knows, the newest first",
    kind: "request",
    right: "observe",
    params: z.strictObject({
      tree: pid.optional().describe("Only this process and all below it."),
      before: z.int().positive().optional().describe("The `next` of the page before; absent: the newest."),
      limit: z.int().positive().max(100).optional().describe("At most so many; absent: 100."),
    }),
    result: z.strictObject({
      processes: z.array(WireRow).describe("Their `state` is `dead`. By falling pid."),
      next: z.int().optional().describe("The `before` of the next page; absent: this is the last."),
    }),
  },
  "process.list": {
    summary: "all processes with what top and tree show",
    kind: "request",
    right: "observe",
    params: page,
    result: z.strictObject({ processes: z.array(WireRow), next }),
  },
  "process.signal": {
    summary: "send a signal to a process, with `tree` to all below it too",
    kind: "request",
    right: "control",
    params: z.strictObject({
      pid,
      signal: z.int(),
      tree: z.boolean().optional(),
      env: environment
        .optional()
        .describe(
          "With RESUME: environment for a process that lost its client's environment in a restart of the daemon.",
        ),
    }),
    result: z
      .strictObject({ pids: z.array(pid) })
      .describe("The processes that were signalled, by rising pid."),
  },
  "process.resume": {
    summary: "resume a process that is paused, rests or has ended",
    kind: "request",
    right: "control",
    params: z.strictObject({
      pid,
      env: environment
        .optional()
        .describe("Environment for a process that lost its client's environment in a restart of the daemon."),
    }),
    result: z.strictObject({
      pid,
      state: z.enum(["thinking", "tool", "waiting", "idle", "blocked", "paused", "running"]),
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
      detail: z.enum(DETAILS).optional().describe("As in spawn, beginning with the reply under way."),
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
  "group.join": {
    summary: "take a process into a group, which is made where there is none of this name",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, group: z.union([name, z.int().min(1)]) }),
    result: z.strictObject({ group: z.int().describe("Its number.") }),
  },
  "group.leave": {
    summary: "take a process out of a group; the last one to leave ends the group",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, group: z.union([name, z.int().min(1)]) }),
    result: undefined,
  },
  "process.note": {
    summary: "the line that the user pinned to a process; with `text` it is set first",
    kind: "request",
    right: "control",
    params: z.strictObject({
      pid,
      text: z
        .string()
        .max(1_000)
        .optional()
        .describe("One line of at most 200 characters; empty: the note is taken away."),
    }),
    result: z.strictObject({ pid, note: z.string().describe("Empty: the process has no note.") }),
  },
  "process.renice": {
    summary: "sets the share of a process of the models that others wait for too",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, weight: z.int().min(WEIGHT.min).max(WEIGHT.max) }),
    result: z.strictObject({ pid, weight: z.int() }),
  },
  "mail.send": {
    summary: "a message for a process; answered once it is durable",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, text, idempotency_key: idempotencyKey.optional() }),
    result: undefined,
  },
} as const satisfies Record<string, MethodSpec>;
