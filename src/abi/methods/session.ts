/** The methods of sessions and their results. */
import * as z from "zod";
import { DETAILS } from "../events.ts";
import { SpawnRequest } from "./process.ts";
import { environment, idempotencyKey, type MethodSpec, pictures, pid, text } from "./spec.ts";

/** The most of a file that an editor answers with. */
const MAX_FILE_CHARS = 4 * 1024 * 1024;

/** The most of a question beside the conversation. */
const MAX_ASIDE_CHARS = 64 * 1024;

const client = z.string().max(64);

const sessionView = z.strictObject({
  pid,
  uuid: z.string(),
  title: z.string().describe("Name given by the user, or the first words of the session."),
  name: z.string(),
  cwd: z.string(),
  state: z.enum(["running", "waiting", "blocked", "paused", "resting", "ended"]),
  created_at: z.string(),
  last_at: z.string(),
  tokens_used: z.int(),
  turns: z.int(),
  kept: z.boolean(),
});
export type WireSession = z.infer<typeof sessionView>;

const madeCall = z.strictObject({
  id: z.string(),
  tool: z.string(),
  input: z.unknown().optional().describe("Absent where it is long, or the page is full."),
  result: z
    .string()
    .optional()
    .describe("Its text, cut at 8 KiB; absent: there is none on record, or the page is full."),
  is_error: z.boolean().optional(),
});
export type WireMadeCall = z.infer<typeof madeCall>;

const runFailure = z.strictObject({
  outcome: z.enum(["failed", "limit"]),
  message: z.string(),
  reason: z.string().optional().describe("Why the run ended so, by its name, as `idle` tells it."),
  code: z.string().optional().describe("Of the error, where there was one."),
  hint: z.string().optional().describe("What to do next."),
});
export type WireRunFailure = z.infer<typeof runFailure>;

const historyItem = z.strictObject({
  role: z.enum(["user", "assistant"]),
  text: z.string().describe("The text, cut at 64 KiB."),
  calls: z.array(z.string()),
  made: z
    .array(madeCall)
    .optional()
    .describe("The same calls with what came of them, where that was asked for; a page has 2 MiB of them."),
  end: runFailure
    .optional()
    .describe("After this message the run ended so. Absent: it went on, completed, or was interrupted."),
  message: z.int().optional().describe("Number that `session.say` gave it; absent: it was not said so."),
  at: z.string(),
  seq: z.int(),
  uuid: z.string().optional().describe("The process that it was said to: in a fork also its origin."),
});
export type WireHistoryItem = z.infer<typeof historyItem>;

const ground = {
  dirs: z.array(z.string()).describe("The folders that it works in."),
  mcp_servers: z
    .array(z.string())
    .describe("Names of its own MCP servers: of its agent, its folder, and its clients."),
};

export const SESSION_METHODS = {
  "session.list": {
    summary: "sessions, live and resting, the newest first; with `all` those that have ended",
    kind: "request",
    right: "observe",
    params: z.strictObject({ cwd: z.string().optional(), all: z.boolean().optional() }),
    result: z
      .strictObject({ sessions: z.array(sessionView), more: z.literal(true).optional() })
      .describe("Newest first. `more` is true when older sessions that have ended were left out."),
  },
  "session.open": {
    summary: "bring a session back, or make one of an agent that has ended, and follow it",
    kind: "stream",
    right: "control",
    params: z.strictObject({
      pid,
      env: environment.optional(),
      interactive: z.boolean().optional(),
      verbose: z.boolean().optional(),
      calls: z.boolean().optional(),
      detail: z.enum(DETAILS).optional().describe("As in process.attach."),
    }),
    result: sessionView.extend(ground),
  },
  "session.change": {
    summary: "what a session works with from now on: folders, MCP servers, instructions, agents",
    kind: "request",
    right: "approve",
    params: SpawnRequest.pick({
      env: true,
      dirs: true,
      mcp_servers: true,
      strict_mcp: true,
      instructions: true,
      system_prompt: true,
      agents: true,
      tools: true,
    })
      .extend({ pid })
      .describe(
        "As in spawn. `dirs` and `mcp_servers` come beside those that it has; `instructions` and `system_prompt` in place of both; of the tools that it has, `tools` are the ones that stay. `dirs` alone are added while it works, too: for its next call, and for agents that it starts from then on.",
      ),
    result: z.strictObject(ground),
  },
  "session.say": {
    summary: "a message for a session; answered once it is durable",
    kind: "request",
    right: "control",
    params: z.strictObject({
      pid,
      text,
      media: pictures.optional(),
      max_steps: z
        .int()
        .positive()
        .optional()
        .describe("The most steps of the run that begins with it; absent: those of the session."),
      client: client.optional(),
      idempotency_key: idempotencyKey.optional(),
    }),
    result: z
      .strictObject({ seq: z.int(), ahead: z.int() })
      .describe("`ahead` is the number of runs and messages before this one; 0 for a repeated request."),
  },
  "session.withdraw": {
    summary: "take back a message that has not been read",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, seq: z.int().min(1) }),
    result: undefined,
  },
  "session.aside": {
    summary:
      "a question beside the conversation, answered from it and kept out of it; it ends with the stream",
    kind: "stream",
    right: "control",
    params: z.strictObject({
      pid,
      text: z.string().min(1).max(MAX_ASIDE_CHARS),
      env: environment.optional().describe("Environment for a session that rests: its keys."),
      detail: z.enum(DETAILS).optional().describe("As in process.attach."),
    }),
    result: z
      .strictObject({ pid })
      .describe("The process that answers: a fork that may call no tool. Its result is the answer."),
  },
  "session.serve_files": {
    summary: "show unsaved text of an editor to a session, and write its files",
    kind: "stream",
    right: "approve",
    params: z.strictObject({
      pid,
      read: z.boolean().optional().describe("The client answers reads with the text that it shows."),
      write: z.boolean().optional().describe("The client writes files."),
    }),
    result: undefined,
  },
  "session.answer_file": {
    summary: "answer a request of `session.serve_files`",
    kind: "request",
    right: "approve",
    params: z.strictObject({
      id: z.string().max(64),
      text: z.string().max(MAX_FILE_CHARS).optional().describe("The text of the file that was read."),
      error: z.string().max(1000).optional().describe("Why nothing was read or written."),
    }),
    result: undefined,
  },
  "session.history": {
    summary: "a page of what was said, the newest first",
    kind: "request",
    right: "observe",
    params: z.strictObject({
      pid,
      before: z
        .string()
        .max(64)
        .optional()
        .describe("The `next` value of the page before; absent: the newest page."),
      limit: z.int().min(1).max(200).optional(),
      text: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .describe(
          "Only messages with these words, whatever their case; a page may then be empty and have a `next`.",
        ),
      made: z.boolean().optional().describe("With the input and the result of each call."),
    }),
    result: z
      .strictObject({ messages: z.array(historyItem), next: z.string().optional() })
      .describe("Oldest first. `next` asks for the page before; absent: this is the first page."),
  },
  "session.describe": {
    summary: "name a process, or keep its history from being cleared out",
    kind: "request",
    right: "control",
    params: z.strictObject({ pid, title: z.string().max(1000).optional(), kept: z.boolean().optional() }),
    result: undefined,
  },
} as const satisfies Record<string, MethodSpec>;
