/**
 * The protocol of /dev/llm/<driver>, modelled on Anthropic Messages; every driver converts from and to it.
 * One write is one attempt: a request, or its short form. The reply is NDJSON, one StreamEvent per line, up to
 * message_stop; the short form is answered by one object {content, tokens_used}.
 */

import type { MediaPart } from "./tool.ts";

export type Block =
  | { type: "text"; text: string }
  /** A MediaPart, only in a message of the user. */
  | { type: MediaPart["type"]; media_type: string; data: string }
  /** `maker`, only in a context: the fallback model that made it, and alone can read it; absent: the process's own. */
  | { type: "thinking"; thinking: string; signature: string; maker?: string }
  | { type: "redacted_thinking"; data: string; maker?: string }
  | { type: "tool_use"; id: string; name: string; input: unknown }
  /** `media`: images and documents for the model, placed after the text. */
  | {
      type: "tool_result";
      tool_use_id: string;
      content: string;
      is_error?: boolean;
      media?: readonly MediaPart[];
    };

/**
 * The `input` of a tool_use whose JSON did not parse: keeps the raw text; the call is answered with INVALID, never run.
 */
export interface BadInput {
  readonly __malformed_json: string;
}

export function isBadInput(input: unknown): input is BadInput {
  return typeof input === "object" && input !== null && Object.hasOwn(input, "__malformed_json");
}

/** Paired: every tool_use has its tool_result in the next user message, in order; the first message is the user's. */
export interface WireMessage {
  role: "user" | "assistant";
  content: Block[];
}

export interface ToolSpec {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

/** A part of a system prompt; `static` text is the same for all processes and comes first. */
export interface SystemPart {
  text: string;
  zone: "static" | "dynamic";
}

/** In ascending order. A model without a level gets the next lower one that it has. */
export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

export function isEffort(value: unknown): value is Effort {
  return EFFORTS.some((level) => level === value);
}

/** What is asked for: a model that thinks in another way does so in its own. `tokens`: most tokens for thinking. */
export type Thinking = { mode: "adaptive" } | { mode: "budget"; tokens: number };

export interface LlmRequest {
  requestId: string;
  purpose: "main" | "compact" | "helper";
  /** "": the driver's default. */
  model: string;
  system: SystemPart[];
  tools: ToolSpec[];
  messages: WireMessage[];
  maxOutputTokens: number;
  /** Absent: the model does not think, where it can be told not to. */
  thinking?: Thinking;
  /** Absent: the server's default. */
  effort?: Effort;
  /** Never sent with thinking. */
  temperature?: number;
  /** Stop sequences: the reply ends before any of them. A driver without support may ignore them. */
  stopSequences?: string[];
  /** Another request within the hour will share all bytes before the last block of the last message. */
  sharesPrefix?: boolean;
  /** Ask the server for one complete answer, because its streams broke; a driver without support streams. */
  whole?: true;
  /** false: the reply holds only complete blocks (start with full content, stop), no deltas. */
  stream: boolean;
}

/**
 * The answer to the short form of a request, which every driver accepts: {intent?, system_prompt?, model?, max_turns?,
 * timeout_ms?, messages?: {role, content}[]}. `intent` is the user message when `messages` has none; `timeout_ms` 0: no
 * timeout.
 */
export interface ShortReply {
  content: string;
  tokens_used: number;
}

export const STOP_REASONS = [
  "end_turn",
  "tool_use",
  "max_tokens",
  "stop_sequence",
  "model_context_window_exceeded",
  "pause_turn",
  "refusal",
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** An unknown reason becomes `end_turn`. */
export function stopReasonOf(value: unknown): StopReason {
  return STOP_REASONS.find((reason) => reason === value) ?? "end_turn";
}

/** For every driver, input_tokens excludes cached tokens and output_tokens includes reasoning. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  /** How many of these are kept for an hour, at another price. */
  cache_creation_1h_tokens?: number;
  cache_read_input_tokens: number;
  /** How many of the output tokens were thinking, where the server reports it. */
  reasoning_tokens?: number;
}

export type BlockDelta =
  | { type: "text_delta"; text: string }
  | { type: "thinking_delta"; thinking: string }
  | { type: "signature_delta"; signature: string }
  | { type: "input_json_delta"; partial_json: string };

/** The characters of a reply that it brings. */
export function charsOf(delta: BlockDelta): number {
  if (delta.type === "text_delta") return delta.text.length;
  if (delta.type === "thinking_delta") return delta.thinking.length;
  return delta.type === "input_json_delta" ? delta.partial_json.length : 0;
}

/** A long silence within a reply, which is over. */
export interface Stall {
  readonly durationMs: number;
  /** Number of such silences of the attempt. */
  readonly count: number;
  readonly totalMs: number;
}

/** The events that every driver yields; the code above the drivers does not know which driver is in use. */
export type StreamEvent =
  | { type: "message_start"; message: { id: string; model: string; usage: Usage } }
  | { type: "content_block_start"; index: number; content_block: Block }
  | { type: "content_block_delta"; index: number; delta: BlockDelta }
  | { type: "content_block_stop"; index: number }
  | { type: "message_delta"; delta: { stop_reason: StopReason }; usage: Usage }
  | { type: "message_stop" }
  | { type: "ping" };

/** A whole reply, assembled from a stream. */
export interface Reply {
  id: string;
  model: string;
  blocks: Block[];
  stopReason: StopReason;
  usage: Usage;
}

export const LLM_ERROR_KINDS = {
  rate_limit: "UNAVAILABLE",
  quota: "PERMISSION",
  overloaded: "UNAVAILABLE",
  server: "DRIVER",
  timeout: "TIMEOUT",
  connection: "UNAVAILABLE",
  stream_stalled: "TIMEOUT",
  stream_malformed: "DRIVER",
  auth: "PERMISSION",
  forbidden: "PERMISSION",
  model_not_found: "NOT_FOUND",
  prompt_too_long: "INVALID",
  media: "INVALID",
  refusal: "DRIVER",
  invalid: "INVALID",
  cancelled: "CANCELLED",
  budget: "BUDGET",
} as const;
export type LlmErrorKind = keyof typeof LLM_ERROR_KINDS;

/** The kinds that are worth a retry; drivers never retry themselves. */
export const RETRYABLE_KINDS: ReadonlySet<LlmErrorKind> = new Set([
  "rate_limit",
  "overloaded",
  "server",
  "timeout",
  "connection",
  "stream_stalled",
  "stream_malformed",
] as const);

export interface ModelCard {
  id: string;
  driver: string;
  maxInputTokens: number;
  maxOutputTokens: number;
  /** What is absent here the model does not have. */
  supports: {
    tools: boolean;
    parallelTools: boolean;
    images: boolean;
    thinking?: "none" | "budget" | "adaptive";
    /** It thinks unless it is told not to, in this way; always: it cannot be told. */
    thinkingOff?: "disabled" | "between_tools" | "always";
    /** It thinks between calls only with the beta header of that name. */
    interleavedBeta?: true;
    /** The levels it takes, in ascending order. */
    effort?: readonly Effort[];
    /** False: it refuses a temperature. Absent: it takes one. */
    temperature?: boolean;
    cache?: "explicit" | "automatic" | "none";
    cacheTtl1h?: boolean;
  };
  /** In US dollars per million tokens; absent: not known. */
  price?: { input: number; output: number; cacheWrite1h?: number };
  known: boolean;
  /** The year and month in which what is published of it was read. */
  seen?: string;
  /** Whether the model may decide calls in auto mode. */
  autoMode?: boolean;
}

export function totalTokens(usage: Usage): number {
  return (
    usage.input_tokens +
    usage.output_tokens +
    usage.cache_creation_input_tokens +
    usage.cache_read_input_tokens
  );
}
