/**
 * The lines of print mode (`crux -p`), one JSON object each. `stream-json` prints all of them, `json` the result alone.
 * docs/crux.print.schema.json is made from these.
 */
import * as z from "zod";
import { RULE_DESTINATIONS } from "../rules.ts";

/** Every line has these. */
const common = {
  uuid: z.string().describe("Names this line."),
  session_id: z.string().describe('The session: `crux -r <session_id>` continues it. "": none was started.'),
  parent_tool_use_id: z
    .string()
    .nullable()
    .describe("The tool call whose sub-agent the line is about; null: the agent itself."),
};

const count = z.int().min(0);

const usage = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
});

const init = z.strictObject({
  type: z.literal("system"),
  subtype: z.literal("init"),
  ...common,
  pid: z.int(),
  cwd: z.string(),
  model: z.string().describe('The requested model; "": the driver chooses one.'),
  tools: z
    .array(z.string())
    .describe(
      "The programs that the agent may call: those of its agent file, without those that are refused to it as a whole.",
    ),
  mcp_servers: z.array(z.strictObject({ name: z.string(), status: z.string() })),
  permissionMode: z.string(),
  slash_commands: z.array(z.string()),
  agents: z.array(z.string()),
  crux_version: z.string(),
});

const notice = z
  .strictObject({
    type: z.literal("system"),
    subtype: z.literal("notice"),
    ...common,
    level: z.enum(["info", "warn", "error"]),
    message: z.string(),
    code: z.string().optional().describe("The error code, if the notice is about an error."),
    line: z.int().optional().describe("The line of stdin that the notice is about."),
  })
  .describe("A retry, a refusal, a line of stdin that is not a message.");

const tombstone = z
  .strictObject({
    type: z.literal("system"),
    subtype: z.literal("tombstone"),
    ...common,
    message_id: z.string().describe("The id of its `message_start`."),
  })
  .describe("The `stream_event` lines of this reply were dropped: whoever shows them takes them away.");

const apiRetry = z
  .strictObject({
    type: z.literal("system"),
    subtype: z.literal("api_retry"),
    ...common,
    attempt: z.int().describe("From 1."),
    max_retries: count,
    retry_delay_ms: count,
    error_status: z.int().nullable().describe("HTTP status; null: the failure had none."),
    error: z.string().describe("The kind of failure."),
  })
  .describe("A model call has failed, and is made again after the wait.");

const boundary = z
  .strictObject({
    type: z.literal("system"),
    subtype: z.enum(["compact_boundary", "microcompact_boundary"]),
    ...common,
    compactMetadata: z.strictObject({
      compactType: z.enum(["auto", "manual"]),
      preCompactTokenCount: count.describe("Estimated."),
      postCompactTokenCount: count,
    }),
    compact_metadata: z
      .strictObject({ trigger: z.enum(["auto", "manual"]), pre_tokens: count })
      .describe("The same, as other readers expect it."),
  })
  .describe("From here on the model is sent a shorter view. Micro: only old tool results were cleared.");

const assistant = z
  .strictObject({
    type: z.literal("assistant"),
    message: z.strictObject({
      id: z.string().describe("The reply: the lines of its blocks have the same id."),
      type: z.literal("message"),
      role: z.literal("assistant"),
      model: z.string(),
      content: z.array(z.looseObject({ type: z.string() })).length(1),
      stop_reason: z.null(),
      stop_sequence: z.null(),
      usage: usage.describe("Of the whole reply: count it once for each id."),
    }),
    ...common,
  })
  .describe("One block of a reply.");

const user = z
  .strictObject({
    type: z.literal("user"),
    message: z.strictObject({
      role: z.literal("user"),
      content: z
        .array(
          z.strictObject({
            type: z.literal("tool_result"),
            tool_use_id: z.string(),
            content: z.string(),
            is_error: z.literal(true).optional(),
          }),
        )
        .length(1),
    }),
    ...common,
  })
  .describe("The result of one tool call.");

const replayed = z
  .strictObject({
    type: z.literal("user"),
    message: z.strictObject({
      role: z.literal("user"),
      content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
    }),
    isReplay: z.literal(true),
    ...common,
  })
  .describe("With --replay-user-messages: a message of stdin that the session has read, with its uuid.");

const streamEvent = z
  .strictObject({
    type: z.literal("stream_event"),
    event: z.looseObject({ type: z.string() }),
    ...common,
  })
  .describe("A piece of a reply, with --include-partial-messages: a preview of the lines `assistant`.");

const SUBTYPES = [
  "success",
  "error_max_turns",
  "error_max_budget_usd",
  "error_max_structured_output_retries",
  "error_during_execution",
] as const;

const result = z.strictObject({
  type: z.literal("result"),
  subtype: z.enum(SUBTYPES),
  is_error: z.boolean(),
  terminal_reason: z.string().describe("Exactly why the run ended."),
  stop_reason: z.string().nullable().describe("Why the last reply ended; null: there was none."),
  result: z.string().describe("The last text of the agent."),
  structured_output: z.json().optional().describe("With --json-schema: the value that matches it."),
  errors: z.array(z.string()).optional(),
  hint: z.string().optional().describe("What to do next, where that is known."),
  num_turns: count,
  duration_ms: count,
  duration_api_ms: count.describe("The part of it spent waiting for the model."),
  total_cost_usd: z.number().describe("Of this command so far; calls without a known price are not in it."),
  usage,
  modelUsage: z.record(
    z.string(),
    z.strictObject({
      inputTokens: count,
      outputTokens: count,
      cacheReadInputTokens: count,
      cacheCreationInputTokens: count,
      costUSD: z.number().optional().describe("Absent: the price is not known."),
      contextWindow: count
        .optional()
        .describe("In tokens, of the model that answered last; absent: of another, or not known."),
    }),
  ),
  permission_denials: z.array(
    z.strictObject({
      tool_name: z.string(),
      tool_use_id: z.string().describe('"": the call is not known.'),
      tool_input: z.record(z.string(), z.json()),
      reason: z.string(),
      allow: z.string().nullable().describe("The narrowest flag that allows it; null: none known."),
    }),
  ),
  session_id: common.session_id,
  parent_tool_use_id: common.parent_tool_use_id,
  uuid: common.uuid,
});

const controlResponse = z
  .strictObject({
    type: z.literal("control_response"),
    response: z.looseObject({ subtype: z.enum(["success", "error"]), request_id: z.string() }),
  })
  .describe("The answer to a `control_request` on stdin; it belongs to no session.");

const mcpMessage = z.strictObject({
  subtype: z.literal("mcp_message"),
  server_name: z.string(),
  message: z
    .record(z.string(), z.json())
    .describe("Of MCP. The answer to it is the `mcp_response` of the response."),
});

const controlRequest = z
  .strictObject({
    type: z.literal("control_request"),
    request_id: z.string(),
    request: z.union([
      mcpMessage,
      z.strictObject({
        subtype: z.literal("can_use_tool"),
        tool_name: z.string(),
        input: z.record(z.string(), z.json()).describe("The arguments; of `ask_user`: its `questions`."),
        tool_use_id: z.string().optional().describe("Absent: the call is not known."),
        permission_suggestions: z
          .array(
            z.strictObject({
              type: z.literal("addRules"),
              rules: z.array(z.strictObject({ toolName: z.string(), ruleContent: z.string().optional() })),
              behavior: z.literal("allow"),
              destination: z.enum(RULE_DESTINATIONS),
            }),
          )
          .optional(),
        title: z.string().describe("The question in one line."),
        decision_reason: z.string().optional(),
      }),
    ]),
  })
  .describe(
    "A question (with --permission-prompt-tool stdio), or a message for a server of tools that the client has. Its answer is a `control_response` on stdin.",
  );

const controlCancel = z
  .strictObject({ type: z.literal("control_cancel_request"), request_id: z.string() })
  .describe("The question needs no answer any more.");

const printLine = z
  .union([
    init,
    notice,
    tombstone,
    apiRetry,
    boundary,
    assistant,
    user,
    replayed,
    streamEvent,
    result,
    controlResponse,
    controlRequest,
    controlCancel,
  ])
  .describe("A line of crux -p --output-format stream-json.");

type PrintLine = z.infer<typeof printLine>;
export type ControlResponse = z.infer<typeof controlResponse>;
/** A question of the session, or that it is void. */
export type ControlAsk = z.infer<typeof controlRequest> | z.infer<typeof controlCancel>;
/** A line about a session. */
export type SessionLine = Exclude<PrintLine, ControlResponse | ControlAsk>;
export type InitLine = z.infer<typeof init>;
export type ResultLine = z.infer<typeof result>;
export type Subtype = (typeof SUBTYPES)[number];

export function printJsonSchema(): object {
  return z.toJSONSchema(printLine, { target: "draft-2020-12" });
}
