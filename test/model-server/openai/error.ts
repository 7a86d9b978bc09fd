/** Errors of the chat dialect. An error stated in the words of the Messages dialect is translated. */
import { type ApiError, apiError } from "../error.ts";

interface Words {
  readonly status?: number;
  readonly type: string;
  readonly code: string | null;
  readonly message?: string;
}

const translations: Readonly<Record<string, Words>> = {
  invalid_request_error: { type: "invalid_request_error", code: null },
  authentication_error: {
    type: "invalid_request_error",
    code: "invalid_api_key",
    message: "Incorrect API key provided.",
  },
  billing_error: { type: "insufficient_quota", code: "insufficient_quota" },
  permission_error: { type: "invalid_request_error", code: "permission_denied" },
  not_found_error: { type: "invalid_request_error", code: "model_not_found" },
  request_too_large: { type: "invalid_request_error", code: "request_too_large" },
  rate_limit_error: {
    type: "requests",
    code: "rate_limit_exceeded",
    message: "Rate limit reached for requests",
  },
  api_error: {
    type: "server_error",
    code: null,
    message: "The server had an error while processing your request. Sorry about that!",
  },
  timeout_error: { type: "server_error", code: "timeout" },
  overloaded_error: {
    status: 503,
    type: "server_error",
    code: null,
    message: "The engine is currently overloaded, please try again later",
  },
};

/** Status, type and code as the vendor has them; a message that the script wrote stays. */
export function translateError(error: ApiError): ApiError {
  const words = translations[error.type];
  if (words === undefined) return error;
  const isDefaultText = error.message === apiError(error.status).message;
  return {
    ...error,
    status: words.status ?? error.status,
    type: words.type,
    code: error.code === undefined ? words.code : error.code,
    message: isDefaultText ? (words.message ?? error.message) : error.message,
  };
}

export function openaiErrorBody(error: ApiError): object {
  const { message, type, param, code } = translateError(error);
  return { error: { message, type, param: param ?? null, code: code ?? null } };
}

export function openaiErrorFrame(error: ApiError): string {
  return `data: ${JSON.stringify(openaiErrorBody(error))}\n\n`;
}
