/** An error answer in the words of the Messages dialect; `openai/error.ts` translates it for the other one. */

export interface ApiError {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** OpenAI only: `error.code` and `error.param`. */
  readonly code?: string | null;
  readonly param?: string | null;
}

const defaults: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ["invalid_request_error", "The request was refused"],
  401: ["authentication_error", "invalid x-api-key"],
  402: ["billing_error", "There is an issue with your billing or payment information"],
  403: ["permission_error", "Your API key does not have permission to use the specified resource"],
  404: ["not_found_error", "Not found"],
  405: ["invalid_request_error", "Method Not Allowed"],
  408: ["timeout_error", "Request timed out"],
  409: ["conflict_error", "The request conflicts with another one"],
  413: ["request_too_large", "Request exceeds the maximum size"],
  429: ["rate_limit_error", "This request would exceed your organization's rate limit"],
  500: ["api_error", "Internal server error"],
  503: ["api_error", "Service unavailable"],
  504: ["timeout_error", "Request timed out"],
  529: ["overloaded_error", "Overloaded"],
};

/** Fills in what `part` leaves out from its status. */
export function apiError(status: number, part: Partial<Omit<ApiError, "status">> = {}): ApiError {
  const [type, message] = defaults[status] ?? (status >= 500 ? defaults[500]! : defaults[400]!);
  return { type, message, headers: {}, ...part, status };
}

export function invalidRequest(message: string, part: Partial<Omit<ApiError, "status">> = {}): ApiError {
  return apiError(400, { ...part, message });
}
