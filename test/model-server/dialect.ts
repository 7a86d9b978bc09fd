/** One entry per wire format: what the server needs to answer in it. */
import {
  anthropicErrorBody,
  anthropicErrorFrame,
  completeAnthropic,
  streamAnthropic,
} from "./anthropic/encode.ts";
import { refuseAnthropic } from "./anthropic/validate.ts";
import { bedrockErrorFrame, bedrockStatus, exceptionOf, streamBedrock } from "./bedrock/encode.ts";
import type { ApiError } from "./error.ts";
import { completeGemini, streamGemini } from "./gemini/encode.ts";
import { geminiErrorBody, geminiErrorFrame, geminiStatus } from "./gemini/error.ts";
import { refuseGemini } from "./gemini/validate.ts";
import type { Limits } from "./limits.ts";
import type { Frame, Message } from "./message.ts";
import { completeOllama, streamOllama } from "./ollama/encode.ts";
import { refuseOllama } from "./ollama/validate.ts";
import { completeOpenai, streamOpenai } from "./openai/encode.ts";
import { openaiErrorBody, openaiErrorFrame, translateError } from "./openai/error.ts";
import { refuseOpenai } from "./openai/validate.ts";
import type { DialectName, ModelRequest } from "./request.ts";
import { completeResponses, streamResponses } from "./responses/encode.ts";
import { responsesErrorFrame } from "./responses/error.ts";
import { refuseResponses } from "./responses/validate.ts";

export interface Dialect {
  refuse(request: ModelRequest, limits: Limits): ApiError | undefined;
  stream(message: Message, request: ModelRequest): Iterable<Frame>;
  complete(message: Message, request: ModelRequest): object;
  statusOf(error: ApiError): number;
  errorBody(error: ApiError, requestId: string): object;
  errorFrame(error: ApiError, requestId: string): string;
  /** Headers of every answer. */
  headers(requestId: string): Record<string, string>;
  /** The type of a stream, if it is none of events. */
  readonly streamType?: string;
  /** Each character of a frame is a byte. */
  readonly isBinary?: boolean;
  /** Headers of an error, if not those that the script wrote. */
  errorHeaders?(error: ApiError): Record<string, string>;
}

/** Stated, and never reached: a client that keeps to what a server states would be held back by a usual account's limits. */
const UNREACHED = "1000000000000";
const resetAt = "2030-01-01T00:00:00Z";
const limitHeaders = (kind: string) => ({
  [`anthropic-ratelimit-${kind}-limit`]: UNREACHED,
  [`anthropic-ratelimit-${kind}-remaining`]: UNREACHED,
  [`anthropic-ratelimit-${kind}-reset`]: resetAt,
});
const anthropicHeaders = {
  ...limitHeaders("requests"),
  ...limitHeaders("tokens"),
  ...limitHeaders("input-tokens"),
  ...limitHeaders("output-tokens"),
  "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
};
const openaiHeaders = {
  "openai-organization": "org-model-server",
  "openai-processing-ms": "1",
  "openai-version": "2020-10-01",
  "x-ratelimit-limit-requests": UNREACHED,
  "x-ratelimit-limit-tokens": UNREACHED,
  "x-ratelimit-remaining-requests": UNREACHED,
  "x-ratelimit-remaining-tokens": UNREACHED,
  "x-ratelimit-reset-requests": "6ms",
  "x-ratelimit-reset-tokens": "0s",
};

/** A text alone. */
function ollamaError({ type, message }: ApiError): object {
  const busy = "server busy, please try again.  maximum pending requests exceeded";
  return { error: type === "overloaded_error" ? busy : message };
}

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  anthropic: {
    refuse: (request, limits) => refuseAnthropic(request, limits, false),
    stream: streamAnthropic,
    complete: completeAnthropic,
    statusOf: (error) => error.status,
    errorBody: anthropicErrorBody,
    errorFrame: anthropicErrorFrame,
    headers: (requestId) => ({ ...anthropicHeaders, "request-id": requestId }),
  },
  bedrock: {
    refuse: (request, limits) => refuseAnthropic(request, limits, false),
    stream: streamBedrock,
    complete: completeAnthropic,
    statusOf: bedrockStatus,
    errorBody: ({ message }) => ({ message }),
    errorFrame: bedrockErrorFrame,
    headers: (requestId) => ({ "x-amzn-requestid": requestId }),
    streamType: "application/vnd.amazon.eventstream",
    isBinary: true,
    errorHeaders: (error) => ({ ...error.headers, "x-amzn-errortype": exceptionOf(error) }),
  },
  openai: {
    refuse: refuseOpenai,
    stream: streamOpenai,
    complete: completeOpenai,
    statusOf: (error) => translateError(error).status,
    errorBody: openaiErrorBody,
    errorFrame: openaiErrorFrame,
    headers: (requestId) => ({ ...openaiHeaders, "x-request-id": requestId }),
  },
  gemini: {
    refuse: refuseGemini,
    stream: streamGemini,
    complete: completeGemini,
    statusOf: geminiStatus,
    errorBody: geminiErrorBody,
    errorFrame: geminiErrorFrame,
    headers: () => ({ "x-gemini-service-tier": "standard", "server-timing": "gfet4t7; dur=1" }),
    errorHeaders: () => ({}),
  },
  ollama: {
    refuse: refuseOllama,
    stream: streamOllama,
    complete: completeOllama,
    statusOf: (error) => (error.type === "overloaded_error" ? 503 : error.status),
    errorBody: ollamaError,
    errorFrame: (error) => `${JSON.stringify(ollamaError(error))}\n`,
    headers: () => ({}),
    streamType: "application/x-ndjson",
  },
  responses: {
    refuse: refuseResponses,
    stream: streamResponses,
    complete: completeResponses,
    statusOf: (error) => translateError(error).status,
    errorBody: openaiErrorBody,
    errorFrame: responsesErrorFrame,
    headers: (requestId) => ({ ...openaiHeaders, "x-request-id": requestId }),
  },
};
