/** Errors in Google's form. An error stated in the words of the Messages dialect is translated. */
import { type ApiError, apiError } from "../error.ts";

interface Words {
  readonly status?: number;
  readonly type: string;
  readonly message?: string;
  readonly details?: readonly object[];
}

const google = "type.googleapis.com/google.rpc";

/** A quota with its name: `PerDay` or `PerMinute` tells how long it lasts. */
function quotaFailure(quotaId: string): object {
  return { "@type": `${google}.QuotaFailure`, violations: [{ quotaId }] };
}

const exhausted = "You exceeded your current quota, please check your plan and billing details.";

const translations: Readonly<Record<string, Words>> = {
  invalid_request_error: { type: "INVALID_ARGUMENT" },
  authentication_error: {
    status: 400,
    type: "INVALID_ARGUMENT",
    message: "API key not valid. Please pass a valid API key.",
    details: [{ "@type": `${google}.ErrorInfo`, reason: "API_KEY_INVALID", domain: "googleapis.com" }],
  },
  billing_error: {
    status: 429,
    type: "RESOURCE_EXHAUSTED",
    message: exhausted,
    details: [quotaFailure("GenerateRequestsPerDayPerProjectPerModel-FreeTier")],
  },
  permission_error: { type: "PERMISSION_DENIED" },
  not_found_error: { type: "NOT_FOUND" },
  request_too_large: {
    status: 400,
    type: "INVALID_ARGUMENT",
    message: "Request payload size exceeds the limit: 20971520 bytes.",
  },
  rate_limit_error: {
    type: "RESOURCE_EXHAUSTED",
    message: exhausted,
    details: [quotaFailure("GenerateRequestsPerMinutePerProjectPerModel")],
  },
  api_error: { type: "INTERNAL", message: "An internal error has occurred." },
  timeout_error: { status: 504, type: "DEADLINE_EXCEEDED", message: "Deadline expired before it was done." },
  overloaded_error: {
    status: 503,
    type: "UNAVAILABLE",
    message: "The model is overloaded. Please try again later.",
  },
};

/** Status and type as the vendor has them; a message that the script wrote stays. */
export function geminiStatus(error: ApiError): number {
  return translations[error.type]?.status ?? error.status;
}

/** The delay stands in the body, in no header. */
export function geminiErrorBody(error: ApiError): object {
  const words: Words = translations[error.type] ?? { type: error.type };
  const { type, details = [] } = words;
  const isDefaultText = error.message === apiError(error.status).message;
  const message = isDefaultText ? (words.message ?? error.message) : error.message;
  const delay = error.headers["retry-after"];
  const retry = delay === undefined ? [] : [{ "@type": `${google}.RetryInfo`, retryDelay: `${delay}s` }];
  const all = [...details, ...retry];
  const more = all.length === 0 ? {} : { details: all };
  return { error: { code: geminiStatus(error), message, status: type, ...more } };
}

export function geminiErrorFrame(error: ApiError): string {
  return `data: ${JSON.stringify(geminiErrorBody(error))}\r\n\r\n`;
}
