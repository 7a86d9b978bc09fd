/** When each event of a process is sent, with an example. The page shows the example as the wire writes it. */
import { Fault } from "../errors.ts";
import type { ProcessEvent } from "../events.ts";
import { asPid } from "../ids.ts";
import { AT_MS } from "./method-doc.ts";

type EventDocs = {
  readonly [E in ProcessEvent["event"]]: {
    /** A sentence that begins with `When` or `After`. */
    readonly sent: string;
    readonly example: Extract<ProcessEvent, { event: E }>;
  };
};

const pid = asPid(3);

export const EVENT_DOCS: EventDocs = {
  spawn: {
    sent: "When the process has started. It is the first event of `spawn`.",
    example: {
      event: "spawn",
      pid,
      intent: "fix the failing test",
      notice: "a script answers in place of a model",
      details: {
        agent: "general-purpose",
        model: "sonnet",
        maxSteps: 10,
        budget: 200_000,
        device: "/dev/llm/anthropic",
        mode: "plan",
      },
    },
  },
  step: {
    sent: "When a step begins: one reply of the model with the results of its calls.",
    example: { event: "step", pid, step: 2, total: 10 },
  },
  mode: {
    sent: "When the permission mode has changed.",
    example: { event: "mode", pid, mode: "accept_edits" },
  },
  ask: {
    sent: "When the permission gate asks, or the agent asks its user. Answer with ask.answer.",
    example: {
      event: "ask",
      pid,
      ask_id: "a_3_7",
      text: "bash: npm test",
      options: ["yes", "no", "always"],
      tool: "bash",
      effects: ["run npm test"],
      reason: "no rule allows npm test",
      rules: [{ rule: "bash(npm test:*)", destinations: ["session", "projectSettings"] }],
      opened_at: AT_MS,
    },
  },
  ask_closed: {
    sent: "When a question was answered by any client, or is void.",
    example: { event: "ask_closed", pid, ask_id: "a_3_7", answer: "yes" },
  },
  tool: {
    sent: "After each transfer to a device or program.",
    example: { event: "tool", pid, device: "/bin/edit", inBytes: 210, outBytes: 64, durationMs: 12 },
  },
  call: {
    sent: "After each tool call of the model, and for a call of a tool that does not exist.",
    example: {
      event: "call",
      pid,
      call: { tool: "edit", about: "src/a.ts", facts: { added: 3, removed: 1 } },
    },
  },
  child: {
    sent: "When a call of the model has started an agent.",
    example: { event: "child", pid, child: asPid(9), agent: "explore", title: "find the callers" },
  },
  output: {
    sent: "When a call of the model that still runs has printed something, at most once a second; the next one takes its place. The client has asked for the detail `deltas`.",
    example: {
      event: "output",
      pid,
      call: { tool: "bash", about: "npm test" },
      output: "ok 1\nok 2\n",
      elapsedMs: 4_200,
    },
  },
  tombstone: {
    sent: "When a reply does not come of which pieces were sent. The client has asked for the detail `deltas`.",
    example: { event: "tombstone", pid, replyId: "msg_1" },
  },
  "llm.stall": {
    sent: "When a reply continues after more than 30 s in which nothing of it came.",
    example: { event: "llm.stall", pid, durationMs: 41_000, count: 2, totalMs: 73_500 },
  },
  api_retry: {
    sent: "When a model call has failed and will be sent again after a wait.",
    example: {
      event: "api_retry",
      pid,
      attempt: 2,
      maxRetries: 10,
      delayMs: 1_000,
      errorKind: "overloaded",
      status: 529,
    },
  },
  model_switch: {
    sent: "When another model takes over for the rest of a run.",
    example: {
      event: "model_switch",
      pid,
      from: { device: "/dev/llm/anthropic", model: "sonnet" },
      to: { device: "/dev/llm/openai", model: "model-large" },
      cause: "overloaded",
    },
  },
  "sched.waiting": {
    sent: "When a model call has waited for a slot for a second.",
    example: {
      event: "sched.waiting",
      pid,
      class: "foreground",
      position: 3,
      waitedMs: 1_000,
      lane: { lane: "/dev/llm/anthropic sonnet #1f0c2a77", slots: 8, used: 8, waiting: 5, levels: {} },
    },
  },
  said: {
    sent: "When the model says something beside its calls.",
    example: { event: "said", pid, text: "The test expects the old name." },
  },
  message: {
    sent: "When a reply of the model is whole, before its calls run. The client has asked for `detail`.",
    example: {
      event: "message",
      pid,
      reply: {
        id: "msg_1",
        model: "sonnet",
        blocks: [
          { type: "text", text: "I look first." },
          { type: "tool_use", id: "call_1", name: "view", input: { file_path: "a.ts" } },
        ],
        stopReason: "tool_use",
        usage: {
          input_tokens: 800,
          output_tokens: 40,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
        },
      },
      durationMs: 1810,
    },
  },
  tool_result: {
    sent: "When the results of the calls of a reply are recorded, once for each. The client has asked for `detail`.",
    example: {
      event: "tool_result",
      pid,
      result: { type: "tool_result", tool_use_id: "call_1", content: "file not found: a.ts", is_error: true },
    },
  },
  delta: {
    sent: "When a piece of a reply has arrived. The client has asked for the detail `deltas`.",
    example: {
      event: "delta",
      pid,
      piece: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "I look" } },
    },
  },
  "context.moved": {
    sent: "When the view of a conversation was shortened, so that the model is sent less of it.",
    example: { event: "context.moved", pid, layer: "full", trigger: "auto", before: 167_200, after: 21_400 },
  },
  log: {
    sent: "When the process logs a line.",
    example: {
      event: "log",
      pid,
      entry: { timestampMs: 410, level: "info", message: "reading a.ts" },
    },
  },
  paused: {
    sent: "When the process is paused or resumed.",
    example: { event: "paused", pid, isPaused: true },
  },
  input: {
    sent: "When a session has read a message: it starts a run, or joins the current one.",
    example: {
      event: "input",
      pid,
      seq: 5,
      from: asPid(0),
      client: "crux",
      text: "and the other?",
      joins: true,
    },
  },
  queued: {
    sent: "When a message for a session is durable and waits.",
    example: {
      event: "queued",
      pid,
      seq: 5,
      from: asPid(0),
      client: "crux",
      text: "and the other?",
      ahead: 1,
    },
  },
  withdrawn: {
    sent: "When a waiting message was taken back.",
    example: { event: "withdrawn", pid, seq: 5 },
  },
  reply: {
    sent: "When a session has a reply of the model.",
    example: { event: "reply", pid, text: "The test passes now." },
  },
  idle: {
    sent: "After a run of a session: it starts the next message, or waits for one.",
    example: {
      event: "idle",
      pid,
      seq: 5,
      outcome: "limit",
      reason: "max_turns",
      exitCode: 1,
      message: "10 steps are used",
      error: new Fault({ code: "BUDGET", message: "10 steps are used" }),
      result: "",
      tokensUsed: 900,
      elapsedMs: 4000,
      queued: 0,
      denied: [
        {
          tool: "bash",
          what: "bash: rm -r b",
          reason: "no rule allows rm",
          remedy: { rules: ["bash(rm -r b)"] },
        },
      ],
    },
  },
  error: {
    sent: "When the process cannot start or continue. Its line has the type `error`.",
    example: {
      event: "error",
      pid,
      message: "the model does not answer",
      error: new Fault({ code: "DRIVER", message: "the model does not answer" }),
    },
  },
  complete: {
    sent: "When the process has ended. It is the last event; its line has the type `complete`.",
    example: {
      event: "complete",
      pid,
      result: "Fixed.",
      exit: { code: 1, reason: "steps used up", kind: "fault" },
      tokensUsed: 1840,
      cost: { own: 20_000, subtree: 20_000, cached: 1_000, thinking: 120 },
      unpricedCalls: 1,
      model: "sonnet",
      elapsedMs: 9100,
      denied: [
        {
          tool: "bash",
          what: "bash: rm -r b",
          reason: "no rule allows rm",
          remedy: { rules: ["bash(rm -r b)"] },
        },
      ],
    },
  },
};
