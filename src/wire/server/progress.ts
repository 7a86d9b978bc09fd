/** The events of a process as the lines of a spawn stream. Keys in the documented order. */
import type { ProcessEvent, RunCost } from "../../abi/events.ts";
import type { Refusal } from "../../abi/refusal.ts";
import type { WireStreamLine } from "../../abi/wire.ts";
import type {
  ApiRetryEvent,
  CompleteEvent,
  IdleEvent,
  InputEvent,
  LlmStallEvent,
  LogEvent,
  MessageEvent,
  OutputEvent,
  QueuedEvent,
  SchedWaitingEvent,
  SpawnEvent,
  ToolEvent,
  ToolResultEvent,
  WireEvent,
  WireRefusal,
} from "../../abi/wire-events.ts";
import { laneName } from "../../lib/text/model-words.ts";
import { usdOf } from "../../lib/usd.ts";
import { flagsOf, noticeLine, toWireError } from "../codec/error.ts";

/** What the client requested. Without any of these it gets exactly the documented bytes. */
export interface Audience {
  /** The client can show questions. */
  readonly interactive: boolean;
  /** The client wants `tool`, `log` and `paused` events and the details of the run. */
  readonly verbose: boolean;
  /** The client wants `call` and `said` events. */
  readonly calls: boolean;
}

/** undefined: the event is not for this client. */
export function toLine(event: ProcessEvent, audience: Audience): WireStreamLine | undefined {
  const payload = toPayload(event, audience);
  if (payload === undefined) return undefined;
  const type = event.event === "complete" || event.event === "error" ? event.event : "progress";
  return { type, payload };
}

function toPayload(event: ProcessEvent, audience: Audience): WireEvent | undefined {
  const extended = audience.interactive || audience.verbose;
  const { pid } = event;
  switch (event.event) {
    case "spawn":
      return spawnPayload(event, audience);
    case "step":
      return { event: "step", pid, step: event.step, total: event.total };
    case "complete":
      return completePayload(event, extended);
    case "error":
      return {
        event: "error",
        pid,
        error_message: event.message,
        ...(extended ? { error: toWireError(event.error) } : {}),
      };
    case "ask":
    case "ask_closed":
      return audience.interactive ? event : undefined;
    case "tool":
    case "log":
      return audience.verbose ? activityPayload(event) : undefined;
    case "tombstone":
      return { event: "tombstone", pid, reply_id: event.replyId };
    case "llm.stall":
      return audience.verbose ? stallPayload(event) : undefined;
    case "api_retry":
      return audience.verbose ? retryPayload(event) : undefined;
    case "model_switch":
    case "context.moved":
      return audience.verbose ? event : undefined;
    case "sched.waiting":
      return audience.verbose ? waitingPayload(event) : undefined;
    case "call":
      return audience.calls ? { event: "call", pid, call: event.call } : undefined;
    case "child":
      return audience.calls ? event : undefined;
    case "said":
      return audience.calls ? { event: "said", pid, text: event.text } : undefined;
    case "message":
      return messageOf(event);
    case "tool_result":
      return resultOf(event);
    case "output":
      return outputOf(event);
    case "delta":
      return { event: "delta", pid, piece: event.piece };
    case "mode":
      return extended ? { event: "mode", pid, mode: event.mode } : undefined;
    case "paused":
      return extended ? { event: "paused", pid, is_paused: event.isPaused } : undefined;
    case "input":
    case "queued":
      return messagePayload(event);
    case "withdrawn":
      return { event: "withdrawn", pid, seq: event.seq };
    case "reply":
      return { event: "reply", pid, text: event.text };
    case "idle":
      return idlePayload(event);
  }
}

type Of<E extends ProcessEvent["event"]> = Extract<ProcessEvent, { event: E }>;

function spawnPayload(event: Of<"spawn">, { interactive, verbose }: Audience): SpawnEvent {
  const { agent, model, maxSteps, budget, device, mode } = event.details;
  return {
    event: "spawn",
    pid: event.pid,
    intent: event.intent,
    ...((interactive || verbose) && event.notice !== undefined ? { notice: event.notice } : {}),
    ...(verbose ? { agent, model, max_steps: maxSteps, budget, device } : {}),
    ...(verbose && mode !== undefined ? { mode } : {}),
  };
}

function completePayload(event: Of<"complete">, extended: boolean): CompleteEvent {
  const { code, reason } = event.exit;
  return {
    event: "complete",
    pid: event.pid,
    result: event.result,
    exit_code: code,
    ...(code === 0 ? {} : { exit_reason: reason }),
    tokens_used: event.tokensUsed,
    ...(extended
      ? {
          elapsed_ms: Math.floor(event.elapsedMs),
          ...costPayload(event.cost),
          ...modelPayload(event),
          ...deniedPayload(event),
        }
      : {}),
  };
}

function modelPayload({
  model,
  unpricedCalls,
}: Of<"complete">): Pick<CompleteEvent, "model" | "unpriced_calls"> {
  return {
    ...(unpricedCalls === undefined ? {} : { unpriced_calls: unpricedCalls }),
    ...(model === undefined ? {} : { model }),
  };
}

function deniedPayload({ denied }: Of<"complete" | "idle">): Pick<CompleteEvent, "denied"> {
  return denied === undefined ? {} : { denied: denied.map(toWireRefusal) };
}

function toWireRefusal({ remedy = null, ...call }: Refusal): WireRefusal {
  return { ...call, allow: remedy === null ? null : flagsOf(remedy) };
}

function costPayload(cost: RunCost | undefined): Partial<CompleteEvent> {
  if (cost === undefined) return {};
  const { own, subtree, cached, thinking } = cost;
  return {
    ...(subtree === 0 ? {} : { cost_usd: usdOf(own), subtree_cost_usd: usdOf(subtree) }),
    ...(cached === 0 ? {} : { cached_tokens: cached }),
    ...(thinking === 0 ? {} : { thinking_tokens: thinking }),
  };
}

function messageOf({ pid, reply, durationMs }: Of<"message">): MessageEvent {
  const { id, model, blocks, stopReason, usage } = reply;
  return {
    event: "message",
    pid,
    id,
    model,
    content: blocks,
    stop_reason: stopReason,
    usage,
    duration_ms: Math.round(durationMs),
  };
}

function resultOf({ pid, result }: Of<"tool_result">): ToolResultEvent {
  const { tool_use_id, content, is_error, media } = result;
  return {
    event: "tool_result",
    pid,
    tool_use_id,
    content,
    ...(is_error === true ? { is_error } : {}),
    ...(media === undefined ? {} : { media: media.map(({ media_type }) => media_type) }),
  };
}

function outputOf({ event, pid, call, output, elapsedMs }: Of<"output">): OutputEvent {
  return { event, pid, call, output, elapsed_ms: Math.round(elapsedMs) };
}

function activityPayload(event: Of<"tool" | "log">): ToolEvent | LogEvent {
  const { pid } = event;
  if (event.event === "log")
    return { event: "log", pid, level: event.entry.level, message: noticeLine(event.entry) };
  const { device, inBytes, outBytes, durationMs } = event;
  return { event: "tool", pid, device, in_bytes: inBytes, out_bytes: outBytes, duration_ms: durationMs };
}

function retryPayload({ event, pid, ...retry }: Of<"api_retry">): ApiRetryEvent {
  const { attempt, maxRetries: max_retries, delayMs: delay_ms, errorKind: error_kind, ...more } = retry;
  return { event, pid, attempt, max_retries, delay_ms, error_kind, ...more };
}

function stallPayload({ event, pid, durationMs, count, totalMs }: Of<"llm.stall">): LlmStallEvent {
  return { event, pid, stall_duration_ms: durationMs, stall_count: count, total_stall_ms: totalMs };
}

function waitingPayload({ event, pid, lane, ...wait }: Of<"sched.waiting">): SchedWaitingEvent {
  const { class: name, position, waitedMs: waited_ms } = wait;
  const { slots, used, closedForMs } = lane;
  const closed = closedForMs === undefined ? {} : { closed_for_ms: closedForMs };
  return { event, pid, class: name, position, waited_ms, lane: laneName(lane.lane), slots, used, ...closed };
}

/** `joins` is only sent if true, `ahead` only for a queued message. */
function messagePayload(event: Of<"input" | "queued">): InputEvent | QueuedEvent {
  const { pid, seq, from, client, text } = event;
  if (event.event === "queued") return { event: "queued", pid, seq, from, client, text, ahead: event.ahead };
  return { event: "input", pid, seq, from, client, text, ...(event.joins ? { joins: true } : {}) };
}

function idlePayload(event: Of<"idle">): IdleEvent {
  const { pid, seq, outcome, reason, message, error, result, exitCode, tokensUsed, elapsedMs, queued } =
    event;
  const { background, jobs } = event;
  return {
    event: "idle",
    pid,
    seq,
    outcome,
    reason,
    ...(message === "" ? {} : { message }),
    ...(error === undefined ? {} : { error: toWireError(error) }),
    result,
    exit_code: exitCode,
    tokens_used: tokensUsed,
    elapsed_ms: Math.floor(elapsedMs),
    queued,
    ...(background === undefined ? {} : { background }),
    ...(jobs === undefined ? {} : { jobs }),
    ...deniedPayload(event),
  };
}
